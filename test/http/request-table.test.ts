import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createFetchHandler } from '../../src/adapters/http/fetch/fetch-handler.js';
import { createContainer } from '../../src/bootstrap/service/container.js';
import { startService } from '../../src/bootstrap/service/start-service.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';
import { KeptLog } from '../adapters/http/fixtures.js';
import {
  describeOnMongo,
  dropDatabase,
  newDatabaseName,
  uriOf,
} from '../adapters/mongodb/mongo-server.js';
import { bindContract } from '../contract/bind-contract.js';
import { REQUEST_TABLE, STORE_TOPIC, httpContract } from '../contract/http-contract.js';
import { header, type RawResponse } from '../contract/http/conversation.js';
import { fetchSubjects, serviceSubjects, type OpenHttp } from '../contract/http/http-subjects.js';
import { fillRequest, type Row } from '../contract/http/request-row.js';
import { startReady } from '../contract/http/run-row.js';
import type { RunOptions } from '../contract/run-contract.js';
import {
  STATIC_KEYS,
  environmentOf,
  issueKeys,
  ailingStore,
  storeFault,
  type Situation,
} from '../contract/http/wire-http.js';
import { heldToDocument } from '../open-api/held-to-document.js';
import { cleanUp, temporaryFolder } from '../service/running-service.js';
import { TOKENS, wiring } from '../../src/bootstrap/service/wiring.js';

const ROWS = Object.values(REQUEST_TABLE).flat();

/** Logs of the services, by their address. */
const logs = new Map<string, KeptLog>();

/** The service itself, as its operators have it: its wiring on Koa, set up by environment variables. */
const serviceOn = (storeUrl: () => string, faults: 'with faults' | 'without faults'): OpenHttp =>
  serviceSubjects(async (situation) => {
    const fault = storeFault(situation);
    if (fault && faults === 'without faults') return 'the store has no fault';
    const container = await createContainer(
      readSettings({
        PORT: '0',
        SHUTDOWN_DEADLINE: '50ms',
        STORE_URL: storeUrl(),
        API_KEYS: Object.values(STATIC_KEYS).join(','),
        ...environmentOf(situation),
      }),
    );
    const { promise: used, resolve: onCall } = Promise.withResolvers<void>();
    if (fault)
      wiring(container).decorate(TOKENS.store, (store) => ({
        ...store,
        ...ailingStore(fault, onCall),
      }));
    const log = new KeptLog();
    wiring(container).replace(TOKENS.httpLog, log);
    const service = await startService(container);
    logs.set(service.url, log);
    const { apiKeys } = await container.getAsync(TOKENS.store);
    assert.ok(apiKeys);
    const stop = async () => void (await service.stop(0));
    return { url: service.url, keys: await issueKeys(apiKeys), used, stop };
  });

/** The same services. Each response must be in the log, whoever has sent it: its status, and the id that it names. */
const heldToLog =
  (open: OpenHttp): OpenHttp =>
  async (situation) => {
    const subject = await open(situation);
    return {
      ...subject,
      async send(request, wanted) {
        const conversation = await subject.send(request, wanted);
        for (const response of conversation.responses) {
          const id = header(response, 'X-Request-Id');
          const isLogged = () =>
            logs
              .get(subject.url)
              ?.lines.some(
                ({ requestId, status }) => requestId === id && status === response.status,
              );
          // A line may be written just after the client has the response. Turns wait for a machine that stalls.
          for (let turn = 0; !isLogged() && turn < 1000; turn += 1) await nextTurn();
          assert.ok(
            isLogged(),
            `the response ${response.status} with the id ${id} is not in the log`,
          );
        }
        return conversation;
      },
    };
  };

const service = heldToLog(serviceOn(() => 'memory:', 'with faults'));
const fetch = fetchSubjects(createFetchHandler);

/** The contract. Every response is also checked against the OpenAPI document that the service publishes. */
function bindHeldToDocument(open: OpenHttp, options?: RunOptions): void {
  const tally = { held: 0 };
  bindContract(httpContract, heldToDocument(open, tally), undefined, options);
  after(function () {
    let isWhole = true; // not a few cases that --grep has chosen
    this.test?.parent?.eachTest(({ state, pending }) => {
      if (state === undefined && !pending) isWhole = false;
    });
    assert.ok(tally.held > 300 || !isWhole, `${tally.held} responses were held to the document`);
  });
}

describe('The HTTP interface on Koa, as the service serves it', () => bindHeldToDocument(service));

describe('The HTTP interface on Fetch', () => bindHeldToDocument(fetch, { without: ['socket'] }));

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

describe('The service, on Koa, and Fetch', () => {
  for (const situation of new Set(ROWS.map(({ given = 'plain' }) => given))) {
    it(`respond alike, byte for byte: ${situation}`, async () => {
      const rows = ROWS.filter(
        ({ given = 'plain', socketOnly }) => given === situation && !socketOnly,
      );
      const one = await responsesOf(service, situation, rows);
      expect(one).to.deep.equal(await responsesOf(fetch, situation, rows));
    });
  }
});

/** The cases of the contract that a store can break, on the whole service. */
function bindStoreCases(storeUrl: () => string): void {
  const cases = httpContract.cases.filter(({ topic }) => topic === STORE_TOPIC);
  assert.ok(cases.length > 5);
  bindContract({ ...httpContract, cases }, serviceOn(storeUrl, 'without faults'));
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
