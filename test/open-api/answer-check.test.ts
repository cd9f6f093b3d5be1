import { expect } from 'chai';
import type { Answer } from '../contract/http/conversation.js';
import { AnswerCheck } from './answer-check.js';
import { documentFor } from './document.js';

const BELLA = '{"id":9223372036854775807,"name":"Bella","categoryId":-9223372036854775808,"status":"sold"}';
const NEXT = '</v1/pets?limit=1&cursor=1>; rel="next"';
const SUCCESSOR = '</v1/pets?status=available>; rel="successor-version"';

const answer = (status: number, body: string, headers: Readonly<Record<string, string>>): Answer => ({
  status,
  headers: Object.entries({
    'X-Request-Id': 'a',
    'Content-Type': 'application/json; charset=utf-8',
    ...headers,
  }),
  body: Buffer.from(body),
});
const listed = (body: string, headers: Readonly<Record<string, string>> = { ETag: '"e"' }): Answer =>
  answer(200, body, headers);
const created = (
  body: string,
  headers: Readonly<Record<string, string>> = { Location: '/v1/pets/1' },
): Answer => answer(201, body, headers);
const refused = (code: string, status = 401, repeated = status): Answer =>
  answer(status, `{"code":"${code}","message":"No.","status":${repeated}}`, {
    'WWW-Authenticate': 'Bearer realm="animal-store"',
  });

describe('An answer is held to the OpenAPI document', () => {
  const check = new AnswerCheck(documentFor(), '/v1');
  const LIST = { method: 'GET', path: '/v1/pets' };
  const CREATE = { method: 'POST', path: '/v1/pets' };
  const GET = { method: 'GET', path: '/v1/pets/1' };
  const deprecated = {
    ETag: '"e"',
    Deprecation: '@1',
    Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    Link: SUCCESSOR,
  };

  const GOOD: ReadonlyArray<readonly [string, Answer, typeof LIST]> = [
    ['a list', listed(`[${BELLA},${BELLA}]`, { ETag: '"e"', Link: NEXT }), LIST],
    ['an empty list', listed('[]'), LIST],
    ['a HEAD', listed('', { ETag: '"e"' }), { ...LIST, method: 'HEAD' }],
    [
      'an animal with members that are not named',
      created('{"id":1,"name":"a","categoryId":1,"age":7}'),
      CREATE,
    ],
    ['an error', refused('missing_api_key'), LIST],
    ['an answer of a deprecated operation', answer(200, BELLA, deprecated), GET],
    ['an answer that has not changed', { ...answer(304, '', deprecated) }, GET],
  ];
  for (const [what, given, asked] of GOOD) {
    it(`and passes: ${what}`, () => {
      expect(check.faultsOf(given, asked)).to.deep.equal([]);
    });
  }

  const BAD: ReadonlyArray<readonly [string, Answer, typeof LIST, RegExp]> = [
    ['a status that is not declared', refused('route_not_found', 404), LIST, /declares no 404/],
    ['no header that must be there', listed('[]', {}), LIST, /ETag: is missing/],
    ['a header of another form', listed('[]', { ETag: 'e' }), LIST, /ETag: .*pattern/],
    [
      'a header twice',
      { ...listed('[]'), headers: [...listed('[]').headers, ['ETag', '"f"']] },
      LIST,
      /twice/,
    ],
    ['another link', listed('[]', { ETag: '"e"', Link: SUCCESSOR }), LIST, /Link: .*pattern/],
    ['another media type', listed('[]', { ETag: '"e"', 'Content-Type': 'text/plain' }), LIST, /text\/plain/],
    ['another type', listed(BELLA), LIST, /body: .*must be array/],
    ['no JSON', listed('['), LIST, /body: /],
    ['a member that is missing', created('{"id":1,"name":"a"}'), CREATE, /required property 'categoryId'/],
    ['an integer in quotes', created('{"id":"1","name":"a","categoryId":1}'), CREATE, /id/],
    [
      'an integer beyond int64',
      created('{"id":9223372036854775808,"name":"a","categoryId":1}'),
      CREATE,
      /id/,
    ],
    ['a blank name', created('{"id":1,"name":"\u3000","categoryId":1}'), CREATE, /name .*pattern/],
    [
      'an unknown status',
      created('{"id":1,"name":"a","categoryId":1,"status":"Sold"}'),
      CREATE,
      /allowed values/,
    ],
    [
      '101 animals',
      listed(`[${Array.from({ length: 101 }, () => BELLA).join()}]`),
      LIST,
      /more than 100 items/,
    ],
    ['a code of another status', refused('invalid_cursor'), LIST, /code is invalid_cursor/],
    ['a status that is not the answer’s', refused('missing_api_key', 401, 403), LIST, /status/],
    ['no deprecation', answer(200, BELLA, { ETag: '"e"' }), GET, /Deprecation: is missing/],
    ['a body where none belongs', answer(304, '[]', deprecated), GET, /body: there is one/],
  ];
  for (const [what, given, asked, fault] of BAD) {
    it(`and is caught with ${what}`, () => {
      const faults = check.faultsOf(given, asked) ?? [];
      expect(
        faults.some((found) => fault.test(found)),
        faults.join('\n'),
      ).to.equal(true);
    });
  }

  it('unless the document does not speak of the request', () => {
    const elsewhere = ['/v1/orders', '/v1/pets/', '/v1/pets/1/2', '/livez', '/pets'];
    for (const path of elsewhere) {
      expect(check.faultsOf(refused('x', 404), { method: 'GET', path }), path).to.equal(undefined);
    }
    for (const method of ['OPTIONS', 'DELETE']) {
      expect(check.faultsOf(refused('x', 405), { ...LIST, method })).to.equal(undefined);
    }
  });
});
