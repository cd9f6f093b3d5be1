import { inspect } from 'node:util';
import { expect } from 'chai';
import { rejectionOf } from '../../../contract/rejection.js';
import { textsOf } from '../../../contract/texts.js';
import { API_KEY, bella, errorJson, fakeService, html, json, never, type Step } from './fake-service.js';

describe('The API key of AnimalStoreClient', () => {
  it('cannot be got out of the client', () => {
    const { client } = fakeService(json(200, '[]'));
    const one = client();
    const texts = [
      Object.prototype.toString.call(one),
      JSON.stringify(one),
      inspect(one, { depth: Infinity, showHidden: true, showProxy: true }),
      ...textsOf(one),
      ...Reflect.ownKeys(one).map(String),
    ];
    for (const text of texts) expect(text).to.not.include(API_KEY);
    expect(() => structuredClone(one)).to.not.throw();
  });

  const FAILURES: ReadonlyArray<readonly [string, Step]> = [
    ['the network', new TypeError('fetch failed', { cause: new Error('ECONNRESET') })],
    ['a deadline', never],
    ['an error of HTTP', errorJson(401, 'invalid_api_key')],
    ['an error of the domain', errorJson(400, 'invalid_pet')],
    ['a page of a proxy', html(500)],
    ['a redirect', new Response('', { status: 302, headers: { Location: 'https://b.example' } })],
    ['no animal', json(201, '{}')],
  ];
  for (const [what, step] of FAILURES) {
    it(`is in no error by ${what}, nor in what caused it`, async () => {
      const { client, sent } = fakeService(step);
      const error = await rejectionOf(client({ retries: 1 }).createPet(bella));
      expect(sent[0]?.headers.get('authorization'), 'what was sent').to.include(API_KEY);
      expect(textsOf(error).join('\n')).to.not.include(API_KEY);
      expect(inspect(error, { depth: Infinity, showHidden: true })).to.not.include(API_KEY);
    });
  }
});
