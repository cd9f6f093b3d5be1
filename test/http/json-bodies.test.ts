import { expect } from 'chai';
import { bearer, type RowRequest } from '../contract/http/request-row.js';
import type { HttpSubject } from '../contract/http/http-subject.js';
import { DECISIONS, bytesOf, named, present, reason } from '../unit/json-test-suite.js';
import { fetchServices } from './fetch-service.js';
import { koaServices } from './koa-service.js';

/** The status of a case sent as an animal, and the code of the error. */
async function answerTo(subject: HttpSubject, name: string): Promise<string> {
  const request: RowRequest = {
    method: 'POST',
    target: `${new URL(subject.url).pathname}/pets`,
    headers: [bearer(subject.keys.key), ['Content-Type', 'application/json']],
    body: bytesOf(name),
  };
  const [answer] = (await subject.send(request)).answers;
  return `${answer?.status} ${/"code":"(\w+)"/.exec(answer?.body.toString() ?? '')?.[1]}`;
}

/** What is not JSON, unless it is nothing at all. */
const refusal = (name: string): string =>
  bytesOf(name).length === 0 ? '400 missing_body' : '400 malformed_json';

for (const [transport, services] of [
  ['Koa', koaServices],
  ['Fetch', fetchServices],
] as const) {
  (present ? describe : describe.skip)(
    `${transport}, sent the public parsing cases as bodies${reason}`,
    () => {
      let subject: HttpSubject;
      before(async () => {
        subject = await services(() => 'memory:')('plain');
      });
      after(() => subject.dispose());

      /** The answers by case, and those that there have to be. */
      async function compare(names: readonly string[], wanted: (name: string) => string): Promise<void> {
        const answers: Array<readonly [string, string]> = [];
        for (const name of names) answers.push([name, await answerTo(subject, name)]);
        expect(answers).to.deep.equal(names.map((name) => [name, wanted(name)]));
      }

      it('finds that each of the 95 that are JSON is no animal', () =>
        compare(named('y_'), () => '400 invalid_pet'));

      it('refuses each of the 188 that are not JSON', () => compare(named('n_'), refusal));

      it('answers the 35 open ones as published', () =>
        compare(named('i_'), (name) => (DECISIONS[name] === 'refused' ? refusal(name) : '400 invalid_pet')));
    },
  );
}
