import { missingIn, type Contract, type ContractCase, type OptionalPart } from './contract.js';
import type { HttpSubject } from './http/http-subjects.js';
import type { Row } from './http/request-row.js';
import { AUTHENTICATION, keysOf } from './http/rows-authentication.js';
import {
  RESPONSE_CLAUSES,
  checkSamples,
  requestsOf,
  takeSamples,
} from './http/response-clauses.js';
import { BODIES, BODY_HEADERS, IDEMPOTENCY } from './http/rows-bodies.js';
import { CHANGES } from './http/rows-changes.js';
import { FIELDS } from './http/rows-fields.js';
import { MALFORMED } from './http/rows-malformed.js';
import { ORDER_OF_CHECKS } from './http/rows-order.js';
import { CONDITIONAL, GETTING, LISTING, PATHS } from './http/rows-reading.js';
import { CROSS_ORIGIN, DOCS, SERVICE } from './http/rows-service.js';
import { runRow, startReady, type Ready } from './http/run-row.js';
import {
  EVERY_RESPONSE,
  STORE_SCENARIOS,
  TRANSPORT_SCENARIOS,
  type Scenario,
} from './http/scenarios.js';
import type { Situation } from './http/wire-http.js';

/** The rows of the contract, by what they are about. */
export const REQUEST_TABLE = {
  'authentication and scopes': AUTHENTICATION,
  'the order of checks': ORDER_OF_CHECKS,
  paths: PATHS,
  'listing animals': LISTING,
  'getting an animal': GETTING,
  'conditional reads': CONDITIONAL,
  'the fields of a new animal': FIELDS,
  'request bodies': BODIES,
  'the type, encoding and size of request bodies': BODY_HEADERS,
  'creating an animal once': IDEMPOTENCY,
  'changing and removing animals': CHANGES,
  'methods, headers and faults of the service': SERVICE,
  'the OpenAPI document and the docs page': DOCS,
  'pages of other origins': CROSS_ORIGIN,
  'malformed messages and connections': MALFORMED,
} satisfies Readonly<Record<string, readonly Row[]>>;

/** The topic of the cases that a store can break. */
export const STORE_TOPIC = 'what depends on the store';

const SCENARIOS: Readonly<Record<string, readonly Scenario[]>> = {
  'every response': EVERY_RESPONSE,
  [STORE_TOPIC]: STORE_SCENARIOS,
  'what depends on the transport': TRANSPORT_SCENARIOS,
};

const services = new WeakMap<HttpSubject, Promise<Ready>>();

/** Adds the animals that the cases expect, once for all cases that share the service. */
function readyService(subject: HttpSubject, situation: Situation): Promise<Ready> {
  const ready = services.get(subject) ?? startReady(subject, situation);
  services.set(subject, ready);
  return ready;
}

const needsSituation = (given: Situation): OptionalPart<HttpSubject> => ({
  name: given,
  missing: ({ missing }) => missing,
});

const needsSocket = (why: string): OptionalPart<HttpSubject> => ({
  name: 'socket',
  missing: ({ overSocket }) => (overSocket ? undefined : `needs a socket: ${why}`),
});

function httpCase(
  topic: string,
  { name, given = 'plain', socketOnly }: Pick<Row, 'name' | 'given' | 'socketOnly'>,
  run: (service: Ready) => Promise<void>,
): ContractCase<HttpSubject, Situation> {
  return {
    name,
    topic,
    given,
    needs: [needsSituation(given), ...(socketOnly === undefined ? [] : [needsSocket(socketOnly)])],
    run: async (subject) => run(await readyService(subject, given)),
  };
}

const lacks = (subject: HttpSubject) => missingIn(subject, 'url', 'keys', 'send');

/**
 * What the service responds over HTTP, to the byte where it matters, on any transport. Cases share services: one for
 * each situation.
 */
export const httpContract: Contract<HttpSubject, Situation> = {
  port: 'the HTTP interface',
  lacks,
  cases: [
    ...Object.entries(SCENARIOS).flatMap(([topic, scenarios]) =>
      scenarios.map((scenario) => httpCase(topic, scenario, scenario.run)),
    ),
    ...Object.entries(REQUEST_TABLE).flatMap(([topic, rows]) =>
      rows.map((row) => httpCase(topic, row, (service) => runRow(row, service))),
    ),
  ],
};

/**
 * The clauses for a resource of your own beside the animals: API keys, errors and every response. GET must read it,
 * with the scope `pets:read`.
 * @param path below the base path, such as `/categories`
 */
export const resourceContract = (path: string): Contract<HttpSubject, Situation> => ({
  port: `the resource ${path}`,
  lacks,
  cases: [
    ...keysOf(path).map((row) =>
      httpCase('authentication and scopes', row, (service) => runRow(row, service)),
    ),
    ...Object.entries(RESPONSE_CLAUSES).map(([name, check]) =>
      httpCase('every response', { name }, async (service) =>
        checkSamples(check, await takeSamples(service, requestsOf(path))),
      ),
    ),
  ],
});
