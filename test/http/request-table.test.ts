import { expect } from 'chai';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import { createKoaApp } from '../../src/adapters/http/koa/index.js';
import { bindContract } from '../contract/bind-contract.js';
import {
  STORE_TOPIC,
  fetchSubjects,
  httpContract,
  listenerSubjects,
  serviceSubjects,
  type OpenHttp,
} from '../contract/http-contract.js';
import { heldToDocument, type Tally } from '../open-api/held-to-document.js';
import { describeOnStores } from './service-on-store.js';

/** Binds the contract. Every response must also be as the service's own OpenAPI document says. */
function bindDocumented(open: OpenHttp): void {
  const tally: Tally = { held: 0, outside: 0 };
  bindContract(httpContract, heldToDocument(open, tally));

  it('gives responses that the OpenAPI document describes', () => {
    expect(tally.held).to.be.greaterThan(500);
  });
}

describe('Koa', () => {
  bindDocumented(
    listenerSubjects((http) => {
      const handle = createKoaApp(http).callback();
      return (request, response) => void handle(request, response);
    }),
  );
});

describe('Fetch', () => {
  bindDocumented(fetchSubjects(createFetchHandler));
});

describeOnStores('The service', (start) => {
  const cases = httpContract.cases.filter(({ topic }) => topic === STORE_TOPIC);
  bindContract({ ...httpContract, cases }, serviceSubjects(start));
});
