import { expect } from 'chai';
import type { HttpSettings } from '../../src/adapters/http/http-settings.js';
import { REQUEST_TABLE } from '../contract/http-contract.js';
import { fillRequest } from '../contract/http/request-row.js';
import type { Situation } from '../contract/http/wire-http.js';
import { documentFor, operationAt, operationsOf } from './document.js';
import { requestsOf } from './held-to-document.js';

const BASE = '/v1';
const ROWS = Object.values(REQUEST_TABLE).flat();

/** Every answer that the document declares, as "operation status code". */
function declaredAnswers(settings: Partial<HttpSettings>): string[] {
  const operations = Object.entries(operationsOf(documentFor(settings)));
  return operations.flatMap(([id, { responses }]) =>
    Object.entries(responses).flatMap(
      ([status, { 'x-error-codes': codes }]) =>
        codes?.map((code) => `${id} ${status} ${code}`) ?? `${id} ${status}`,
    ),
  );
}

/** Every answer that a row of the request table shows, in the same words. */
function shownAnswers(situations: ReadonlySet<Situation>): Set<string> {
  const document = documentFor();
  const shown = ROWS.flatMap(({ request, given = 'plain', expect: { status, code } }) => {
    const [asked] = requestsOf(fillRequest(request, { base: BASE, pet: '1' }));
    const operation = asked && operationAt(document, BASE, asked.method, asked.path);
    if (operation === undefined || !situations.has(given)) return [];
    return [operation.operationId, status, code].filter((part) => part !== undefined).join(' ');
  });
  return new Set(shown);
}

/**
 * What no single row can show (a timeout, two requests), and what the server refuses before any operation: the table
 * shows that once.
 */
const ELSEWHERE = ['request_timeout', 'idempotency_key_reused', 'expectation_failed', 'headers_too_large'];
const isElsewhere = (answer: string): boolean => ELSEWHERE.some((code) => answer.endsWith(` ${code}`));

describe('Every answer that the OpenAPI document declares is shown by a request', () => {
  const faulty: Situation[] = ['storeAway', 'storeFaulty', 'storeUndecided'];

  it('with getPet served', () => {
    const shown = shownAnswers(new Set<Situation>(['plain', 'smallBodies', ...faulty]));
    expect(declaredAnswers({}).filter((answer) => !shown.has(answer) && !isElsewhere(answer))).to.deep.equal(
      [],
    );
  });

  it('with getPet removed', () => {
    const shown = shownAnswers(new Set<Situation>(['getPetOff']));
    const ofGetPet = declaredAnswers({ getPet: 'off' }).filter((answer) => /^getPet (?:2|410)/.test(answer));
    expect(ofGetPet.filter((answer) => !shown.has(answer))).to.deep.equal([]);
    expect(ofGetPet).to.deep.equal(['getPet 410 operation_removed']);
  });
});
