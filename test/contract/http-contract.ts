import type { Contract, ContractCase } from './contract.js';
import { Catalogue } from './http/catalogue.js';
import type { HttpSubject } from './http/http-subject.js';
import { startReady, type Ready } from './http/ready-subject.js';
import type { Row } from './http/request-row.js';
import { SCENARIOS, type Scenario } from './http/request-scenarios.js';
import { REQUEST_TABLE } from './http/request-table.js';
import { runRow } from './http/run-row.js';
import type { Situation } from './http/situation.js';

export {
  environmentOf,
  SITUATIONS,
  type Situation,
  type SituationSetup,
  type StoreFault,
} from './http/situation.js';
export {
  fetchSubjects,
  listenerSubjects,
  serviceSubjects,
  type MaybePromise,
  type RunningService,
} from './http/http-subjects.js';
export type { Answer, Conversation } from './http/conversation.js';
export type { HttpSubject, OpenHttp, Wanted } from './http/http-subject.js';
export type { Header, HttpKeys, RawRequest, RowRequest } from './http/request-row.js';
export { wireHttp, type WiredHttp } from './http/wire-http.js';

type HttpCase = ContractCase<HttpSubject, Situation>;

/** A service with animals in its store, and what is known of these. */
interface Seeded {
  readonly ready: Ready;
  readonly catalogue: Catalogue;
}

const seeded = new WeakMap<HttpSubject, Promise<Seeded>>();

/** Adds the animals that the cases go by, once for all cases that share the service. */
function seededService(subject: HttpSubject, situation: Situation): Promise<Seeded> {
  const known = seeded.get(subject);
  if (known !== undefined) return known;
  const seeding = startReady(subject, situation).then((ready) => ({
    ready,
    catalogue: new Catalogue(ready),
  }));
  seeded.set(subject, seeding);
  return seeding;
}

function httpCase(
  topic: string,
  { name, given = 'plain', socketOnly }: Row | Scenario,
  run: (service: Seeded) => Promise<void>,
): HttpCase {
  return {
    name,
    topic,
    given,
    unless: ({ missing, overSocket }) =>
      missing ?? (socketOnly !== undefined && !overSocket ? `needs a socket: ${socketOnly}` : undefined),
    run: async (subject) => run(await seededService(subject, given)),
  };
}

/**
 * What the service answers over HTTP, to the byte where it matters, whatever transport carries it. The services
 * that cases run on are shared: one for each situation.
 */
export const httpContract: Contract<HttpSubject, Situation> = {
  port: 'the HTTP interface',
  sharesSubjects: true,
  cases: [
    ...Object.entries(REQUEST_TABLE).flatMap(([topic, rows]) =>
      rows.map((row) => httpCase(topic, row, ({ ready, catalogue }) => runRow(row, ready, catalogue))),
    ),
    ...SCENARIOS.map((scenario) =>
      httpCase('several requests', scenario, ({ ready, catalogue }) => {
        catalogue.forget();
        return scenario.run(ready);
      }),
    ),
  ],
};
