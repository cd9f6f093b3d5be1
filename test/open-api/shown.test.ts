import { expect } from 'chai';
import { REQUEST_TABLE } from '../contract/http-contract.js';
import { fillRequest } from '../contract/http/request-row.js';
import type { Situation } from '../contract/http/wire-http.js';
import { documentFor, operationAt, operationsOf } from './document.js';
import { requestsOf } from './held-to-document.js';

const BASE = '/v1';
const SITUATIONS = new Set<Situation>(['plain', 'smallBodies', 'storeAway', 'storeFaulty', 'storeUndecided']);

/**
 * What no single row can show (a timeout, two requests), and what the server refuses before any operation: the table
 * shows that once.
 */
const ELSEWHERE = / (?:request_timeout|idempotency_key_reused|expectation_failed|headers_too_large)$/;

describe('The OpenAPI document', () => {
  it('declares only answers that a row of the request table shows', () => {
    const document = documentFor();
    const rows = Object.values(REQUEST_TABLE).flat();
    const shown = new Set(
      rows.flatMap(({ request, given = 'plain', expect: { status, code } }) => {
        const [asked] = requestsOf(fillRequest(request, { base: BASE, pet: '1' }));
        const operation = asked && operationAt(document, BASE, asked.method, asked.path);
        return operation && SITUATIONS.has(given) ? [`${operation.operationId} ${status} ${code}`] : [];
      }),
    );
    const declared = Object.entries(operationsOf(document)).flatMap(([id, { responses }]) =>
      Object.entries(responses).flatMap(([status, { 'x-error-codes': codes = [undefined] }]) =>
        codes.map((code) => `${id} ${status} ${code}`),
      ),
    );
    expect(declared.filter((answer) => !shown.has(answer) && !ELSEWHERE.test(answer))).to.deep.equal([]);
  });
});
