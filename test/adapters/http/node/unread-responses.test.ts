import { expect } from 'chai';
import type { RequestListener } from 'node:http';
import { rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { BusyError, type HttpInterface } from '../../../../src/adapters/http/index.js';
import { createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import {
  AdmissionControl,
  NodeRequest,
  createNodeListener,
} from '../../../../src/adapters/http/node/index.js';
import { until } from '../../../until.js';
import { httpInterface, keepAlive, memoryAnimalStore } from '../fixtures.js';
import { closeServers, head, inTime, listening } from './listening-server.js';
import { stalled } from './raw-connection.js';

const MiB = 1024 ** 2;
/** Large enough that the buffers of the operating system do not take it. */
const LARGE = 24 * MiB;

/** Asks for one animal, which is large, or for none. */
const list = (key: string, limit: 0 | 1): string =>
  head(`GET /v1/pets?limit=${limit + 1}`, `Authorization: Bearer ${key}`);

/** A server with large lists, the status that a key gets from it, and what its admission counts. */
async function serving(maxUnsent: number, listenerOf: (http: HttpInterface) => RequestListener) {
  const admission = new AdmissionControl({ maxUnsent, maxWait: Infinity });
  const name = '世'.repeat(LARGE / 3); // three bytes each: what is counted is bytes
  const pets = [{ id: 1n, name, categoryId: 1n, status: 'available' as const }];
  const animalStore = {
    ...memoryAnimalStore(),
    listPets: async ({ limit = 1 } = {}) => ({ pets: limit > 1 ? pets : [] }),
  };
  const listener = listenerOf(httpInterface({ admission, animalStore }));
  const { port, open } = await listening(listener, { admission });
  const status = async (key: string): Promise<number | undefined> => {
    const connection = await open(list(key, 0));
    return (await inTime(connection.responses(1)))[0]?.status;
  };
  return { admission, port, status };
}

describe('What clients leave unread', () => {
  afterEach(closeServers);
  keepAlive();

  for (const [name, listenerOf] of [
    ['the listener for node:http', createNodeListener],
    ['Koa', (http: HttpInterface) => createKoaApp(http).callback()],
  ] as const) {
    it(`is counted until they read it or go: beyond its share a key gets 503 (${name})`, async () => {
      const { admission, port, status } = await serving(30 * MiB, listenerOf);
      const reader = await stalled(port, list('greedy', 1));
      await until('bytes wait', () => admission.unsent > 0, 10_000);
      expect(admission.unsent, 'bytes left unread').to.be.within(LARGE / 2, LARGE + 1024);
      expect([await status('greedy'), await status('modest')]).to.deep.equal([503, 200]);

      reader.socket.resume();
      await until('none waits', () => admission.unsent === 0, 10_000);
      expect(await status('greedy'), 'status after reading').to.equal(200);

      const leaver = await stalled(port, list('greedy', 1));
      await until('bytes wait', () => admission.unsent > 0, 10_000);
      leaver.socket.destroy();
      await until('none waits', () => admission.unsent === 0, 10_000);
    });
  }

  it('is limited for all together, but not for a key that leaves none', async () => {
    const { admission, port, status } = await serving(40 * MiB, createNodeListener);
    for (const key of ['one', 'two']) await stalled(port, list(key, 1));
    await until('both wait', () => admission.unsent > 40 * MiB, 10_000);

    for (const key of ['one', 'two']) expect(await status(key), `status of ${key}`).to.equal(503);
    expect(await status('three'), 'status of a key that leaves nothing').to.equal(200);
  });

  it('is counted for the key of its own request, not of the one before', async () => {
    const admission = new AdmissionControl();
    const counted = mock.method(admission, 'countUnsent');
    const { open } = await listening(
      (request, response) => {
        const isKeyed = request.url === '/keyed';
        if (isKeyed)
          new NodeRequest(request, response).onAuthenticated({ keyId: 'key', scopes: new Set() });
        response.end(isKeyed ? '' : Buffer.alloc(LARGE));
      },
      { admission },
    );
    const connection = await open(head('GET /keyed'));
    await connection.responses(1);

    connection.socket.pause();
    connection.send(head('GET /open'));
    await until('they are counted', () => counted.mock.callCount() > 0, 10_000);

    expect(counted.mock.calls[0]?.arguments[0], 'the key that they count for').to.equal('');
  });

  it('is by default a quarter of the memory that the process may use', async () => {
    const memory = mock.method(process, 'constrainedMemory', () => 400);
    const admission = new AdmissionControl();
    memory.mock.restore();
    const admitted = async () => admission.admit().admitCaller('a');

    admission.countUnsent('a', 74);
    await admitted();
    admission.countUnsent('a', 1); // three quarters
    await rejects(admitted(), BusyError);
  });
});
