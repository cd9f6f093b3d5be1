import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { AnimalStoreClient } from '../../src/adapters/http/client/index.js';
import { NodeServer } from '../../src/adapters/http/node/index.js';
import { createContainer } from '../../src/bootstrap/service/container.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';
import { startService } from '../../src/bootstrap/service/start-service.js';
import { leftBehind } from '../left-behind.js';
import { echoBody, head, inTime } from './http/node/listening-server.js';
import { RawConnection } from './http/node/raw-connection.js';
import { describeOnMongo, inDatabase, uriOf } from './mongodb/mongo-server.js';
import { cleanUp, testFile } from './sqlite/temporary-store.js';

const KEY = 'a-key-of-these-tests';

/** A service on this store, used, and stopped. */
async function useService(storeUrl: string): Promise<void> {
  const container = await createContainer(
    readSettings({ STORE_URL: storeUrl, API_KEYS: KEY, PORT: '0' }),
  );
  const service = await startService(container);
  const authorization = `Authorization: Bearer ${KEY}`;
  const body = '{"name":"Rex","categoryId":7}';
  const lines = [authorization, 'Content-Type: application/json', `Content-Length: ${body.length}`];
  const connection = await RawConnection.open(Number(new URL(service.url).port));
  const keyed = [...lines, 'Idempotency-Key: once'];
  connection.send(head('POST /v1/pets', ...lines) + body + head('POST /v1/pets', ...keyed) + body);
  connection.send(head('GET /v1/pets', authorization) + head('GET /readyz'));
  const statuses = (await inTime(connection.responses(4), 30_000)).map(({ status }) => status);
  expect(statuses).to.deep.equal([201, 201, 200, 200]);
  expect(await service.stop(0)).to.equal(true);
}

const answer = (body: string, status = 200) =>
  new Response(body, { status, headers: { 'Content-Type': 'application/json' } });

describe('Nothing is left', () => {
  afterEach(cleanUp);

  it('of a server that was closed', async () => {
    const left = await leftBehind(async () => {
      const server = new NodeServer(echoBody);
      const port = await server.listen(0, '127.0.0.1');
      const connection = await RawConnection.open(port, head('GET /'));
      await connection.responses(1);
      const malformed = await RawConnection.open(port, '@@\r\n\r\n');
      await malformed.allResponses();
      const cut = await RawConnection.open(port, head('POST /', 'Content-Length: 4'));
      cut.socket.resetAndDestroy();
      expect(await inTime(server.close(30_000))).to.equal(true);
      await RawConnection.closeAll();
    });
    expect(left).to.deep.equal([]);
  });

  it('of a service on a store in memory', async () => {
    expect(await leftBehind(() => useService('memory:'))).to.deep.equal([]);
  });

  it('of a service on an SQLite store', async () => {
    const { file } = testFile();
    expect(await leftBehind(() => useService(`sqlite:${file}`))).to.deep.equal([]);
  });

  describeOnMongo('of a service on MongoDB', (server) => {
    const stopped = inDatabase(server, async (database) => {
      expect(await leftBehind(() => useService(uriOf(server, database)))).to.deep.equal([]);
    });
    it('that was stopped', stopped);
  });

  it('of calls of a client: answered, failed, late and aborted', async () => {
    const respond: Record<string, () => Promise<Response>> = {
      1: async () => answer('{"id":1,"name":"Rex","categoryId":7,"status":"sold"}'),
      2: async () =>
        answer('{"code":"pet_not_found","message":"No such animal.","status":404}', 404),
    };
    const fetch = (url: string, { signal }: RequestInit) =>
      respond[url.split('/').at(-1) ?? '']?.() ??
      new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    const left = await leftBehind(async () => {
      const client = new AnimalStoreClient({
        baseUrl: 'http://a/v1',
        apiKey: KEY,
        fetch,
        callDeadline: 50,
      });
      const aborted = new AbortController();
      const calls = [client.getPet(1), client.getPet(2), client.getPet(3)];
      calls.push(client.getPet(4, { signal: aborted.signal }));
      aborted.abort();
      const outcomes = await inTime(Promise.allSettled(calls));
      const statuses = outcomes.map(({ status }) => status);
      expect(statuses.join(' ')).to.equal('fulfilled rejected rejected rejected');
      await delay(100); // a deadline may stay until it is over, but no longer
    });
    expect(left).to.deep.equal([]);
  });
});
