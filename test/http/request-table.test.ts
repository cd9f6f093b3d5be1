import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import { ERROR_STATUS } from '../../src/adapters/http/index.js';
import { createKoaApp } from '../../src/adapters/http/koa/index.js';
import { TOKENS, createContainer, readSettings, startService } from '../../src/bootstrap/index.js';
import { describeOnMongo, dropDatabase, newDatabaseName, uriOf } from '../adapters/mongodb/mongo-server.js';
import { bindContract } from '../contract/bind-contract.js';
import { sampleAnswers } from '../contract/http/answer-promises.js';
import { fetchRequest } from '../contract/http/http-subjects.js';
import type { RowRequest } from '../contract/http/request-row.js';
import { startReady } from '../contract/http/run-row.js';
import { STATIC_KEYS, issueKeys } from '../contract/http/wire-http.js';
import {
  REQUEST_TABLE,
  STORE_TOPIC,
  fetchSubjects,
  httpContract,
  listenerSubjects,
  serviceSubjects,
  type OpenHttp,
} from '../contract/http-contract.js';
import { heldToDocument } from '../open-api/held-to-document.js';

const ROWS = Object.values(REQUEST_TABLE).flat();

const onKoa = listenerSubjects((http) => createKoaApp(http).callback());
const onFetch = fetchSubjects(createFetchHandler);

/** Whether a Request can say all of it: it joins equal headers, and has no control of some. */
function isSayable(request: RowRequest): boolean {
  const names = request.headers.map(([name]) => name.toLowerCase());
  if (names.some((name) => name === 'expect' || name === 'connection')) return false;
  if (names.indexOf('authorization') !== names.lastIndexOf('authorization')) return false;
  try {
    return fetchRequest(request).url.endsWith(request.target);
  } catch {
    return false;
  }
}

describe('The table of requests', () => {
  it('skips without a socket only what no Request can say, and all bytes', () => {
    const wrong = ROWS.filter(({ request, socketOnly }) =>
      'raw' in request ? !socketOnly : socketOnly && isSayable(request),
    );
    expect(wrong.map(({ name }) => name)).to.deep.equal([]);
  });

  it('shows every code, except those that take several requests or a wait', () => {
    const expected = ROWS.flatMap(({ expect: first }) => [first].concat(first.further ?? []));
    const shown = new Set(expected.map(({ code }) => code));
    const missing = Object.keys(ERROR_STATUS).filter((code) => !shown.has(code as keyof typeof ERROR_STATUS));
    expect(missing).to.have.members(['idempotency_key_reused', 'request_timeout']);
  });
});

describe('Koa on the memory store', () => {
  // The OpenAPI document describes each of its responses.
  bindContract(httpContract, heldToDocument(onKoa));
});

describe('Fetch on the memory store', () => {
  bindContract(httpContract, onFetch);
});

/** Responses of every kind, without what the connection adds. */
async function responsesOn(open: OpenHttp): Promise<readonly unknown[]> {
  const subject = await open('plain');
  try {
    const samples = await sampleAnswers(await startReady(subject, 'plain'));
    return samples
      .filter(({ path }) => path !== undefined)
      .map(({ answer: { status, headers, body }, method, path }) => {
        const lasting = headers
          .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
          .filter((line) => !/^(?:date|connection|keep-alive|x-request-id):/.test(line));
        return { method, path, status, headers: lasting.sort(), body: body.toString() };
      });
  } finally {
    await subject.dispose();
  }
}

describe('Koa and Fetch', () => {
  it('send equal responses, byte for byte', async () => {
    const responses = await responsesOn(onKoa);
    expect(responses.length).to.be.greaterThan(40);
    expect(await responsesOn(onFetch)).to.deep.equal(responses);
  });
});

/** The service as it is wired, on a store: what the store can break is checked again over HTTP. */
const bindToStore = (storeUrl: () => string): void =>
  bindContract(
    httpContract,
    serviceSubjects(async () => {
      const settings = readSettings({
        PORT: '0',
        STORE_URL: storeUrl(),
        API_KEYS: Object.values(STATIC_KEYS).join(','),
        LOG_LEVEL: 'silent',
        DRAIN_DELAY: '0s',
      });
      const container = await createContainer(settings);
      const service = await startService(container);
      const apiKeys = await container.getAsync(TOKENS.apiKeyRepository);
      if (apiKeys === undefined) throw new Error('the store keeps no API keys');
      return {
        url: service.url,
        keys: await issueKeys(apiKeys),
        stop: async () => void (await service.stop()),
      };
    }),
    undefined,
    { only: (_, topic) => topic === STORE_TOPIC },
  );

describe('The service on SQLite', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  });
  after(() => rm(folder, { recursive: true }));

  bindToStore(() => `sqlite:${join(folder, 'animals.db')}`);
});

describeOnMongo('The service on MongoDB', (server) => {
  const database = newDatabaseName();
  after(() => dropDatabase(server, database));

  bindToStore(() => uriOf(server, database));
});
