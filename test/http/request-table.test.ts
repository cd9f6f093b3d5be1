import assert from 'node:assert/strict';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFetchHandler } from '../../src/adapters/http/fetch/fetch-handler.js';
import { createKoaApp } from '../../src/adapters/http/koa/animal-store-router.js';
import { TOKENS, createContainer } from '../../src/bootstrap/service/container.js';
import { startService } from '../../src/bootstrap/service/start-service.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';
import {
  describeOnMongo,
  dropDatabase,
  newDatabaseName,
  uriOf,
} from '../adapters/mongodb/mongo-server.js';
import { bindContract } from '../contract/bind-contract.js';
import { REQUEST_TABLE, STORE_TOPIC, httpContract } from '../contract/http-contract.js';
import type { RawResponse } from '../contract/http/conversation.js';
import {
  fetchSubjects,
  listenerSubjects,
  serviceSubjects,
  type OpenHttp,
} from '../contract/http/http-subjects.js';
import { fillRequest, type Row } from '../contract/http/request-row.js';
import { startReady } from '../contract/http/run-row.js';
import {
  STATIC_KEYS,
  environmentOf,
  issueKeys,
  storeFault,
  type Situation,
} from '../contract/http/wire-http.js';
import { heldToDocument } from '../open-api/held-to-document.js';
import { cleanUp, temporaryFolder } from '../service/running-service.js';

const ROWS = Object.values(REQUEST_TABLE).flat();
const koa = listenerSubjects((http) => createKoaApp(http).callback());
const fetch = fetchSubjects(createFetchHandler);

/** The contract. Every response is also checked against the OpenAPI document that the service publishes. */
function bindHeldToDocument(open: OpenHttp): void {
  const tally = { held: 0 };
  bindContract(httpContract, heldToDocument(open, tally));
  after(function () {
    let isWhole = true; // not a few cases that --grep has chosen
    this.test?.parent?.eachTest(
      ({ state, pending }) => (isWhole &&= state !== undefined || pending),
    );
    assert.ok(tally.held > 300 || !isWhole, `${tally.held} responses were held to the document`);
  });
}

describe('The HTTP interface on Koa', () => bindHeldToDocument(koa));

describe('The HTTP interface on Fetch', () => bindHeldToDocument(fetch));

/** Headers that differ between equal responses, and headers of the connection. */
const VOLATILE = /^(?:date|x-request-id|connection|keep-alive|transfer-encoding)$/;

const comparable = ({ status, headers, body }: RawResponse): unknown => ({
  status,
  headers: headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !VOLATILE.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  body: body.toString('latin1'),
});

/** The responses to the requests, in the order of the table, on a new store. */
async function responsesOf(
  open: OpenHttp,
  situation: Situation,
  rows: readonly Row[],
): Promise<unknown[]> {
  const subject = await open(situation);
  try {
    const { values } = await startReady(subject, situation);
    const responses: unknown[] = [];
    for (const { name, request } of rows) {
      const conversation = await subject.send(fillRequest(request, values));
      responses.push([name, ...conversation.responses.map(comparable)]);
    }
    return responses;
  } finally {
    await subject.dispose();
  }
}

describe('Koa and Fetch', () => {
  for (const situation of new Set(ROWS.map(({ given = 'plain' }) => given))) {
    it(`respond alike, byte for byte: ${situation}`, async () => {
      const rows = ROWS.filter(
        ({ given = 'plain', socketOnly }) => given === situation && !socketOnly,
      );
      const one = await responsesOf(koa, situation, rows);
      expect(one).to.deep.equal(await responsesOf(fetch, situation, rows));
    }).timeout(20_000);
  }
});

/** The cases of the contract that a store can break, on the whole service. */
function bindStoreCases(storeUrl: () => string): void {
  const start = serviceSubjects(async (situation) => {
    if (storeFault(situation) !== undefined) return 'the store has no fault';
    const settings = readSettings({
      PORT: '0',
      STORE_URL: storeUrl(),
      API_KEYS: Object.values(STATIC_KEYS).join(','),
      LOG_LEVEL: 'silent',
      ...environmentOf(situation),
    });
    const container = await createContainer(settings);
    const service = await startService(container);
    const { apiKeys } = await container.getAsync(TOKENS.store);
    assert.ok(apiKeys);
    return {
      url: service.url,
      keys: await issueKeys(apiKeys),
      stop: async () => void (await service.stop(0)),
    };
  });
  const cases = httpContract.cases.filter(({ topic }) => topic === STORE_TOPIC);
  assert.ok(cases.length > 5);
  bindContract({ ...httpContract, cases }, start);
}

describe('The HTTP interface on the SQLite store', () => {
  after(cleanUp);
  bindStoreCases(() => `sqlite:${join(temporaryFolder(), 'pets.db')}`);
});

describeOnMongo('The HTTP interface on the MongoDB store', (server) => {
  const databases: string[] = [];
  after(async () => {
    for (const database of databases) await dropDatabase(server, database);
  });

  bindStoreCases(() => {
    const database = newDatabaseName();
    databases.push(database);
    return uriOf(server, database);
  });
});
