import { createHook } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createContainer, readSettings, startService } from '../../src/bootstrap/index.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { KEY } from './running-service.js';

/** What stays until it is released: timers, also those that do not keep the process alive, and handles. */
const KINDS =
  /^(?:Timeout|\w*(?:TCP|PIPE|TLS|PROCESS|SIGNAL|FSEVENT|STATWATCHER|MESSAGEPORT|WORKER)\w*)$/;

/**
 * Names what `work` has made and not released by its end, each with its first place in `src`. What Node.js makes by
 * itself, such as the sockets that it accepts, has no place.
 */
async function leftBehind(work: () => Promise<unknown>): Promise<readonly string[]> {
  const held = new Map<number, string>();
  const hook = createHook({
    init(id, kind) {
      if (!KINDS.test(kind)) return;
      const frames = String(new Error('made').stack).split('\n').slice(2); // without this hook
      // The clock of the Date header: all servers of the process share it, and it ends with the second.
      if (frames.some((frame) => frame.includes('node:internal/http'))) return;
      const place = frames.find((frame) => frame.includes('/src/'));
      if (place !== undefined) held.set(id, `${kind} ${place.trim()}`);
      else if (frames.every((frame) => !/file:|\(\/|node_modules/.test(frame)))
        held.set(id, `${kind} of Node.js`);
    },
    destroy: (id) => void held.delete(id),
  }).enable();
  try {
    await work();
    // Node.js reports closed handles some turns later.
    for (let turn = 0; turn < 20 && held.size > 0; turn += 1) await setImmediate();
    return [...held.values()];
  } finally {
    hook.disable();
  }
}

const start = async (storeUrl: string) =>
  startService(
    await createContainer(readSettings({ STORE_URL: storeUrl, API_KEYS: KEY, PORT: '0' })),
  );

/** A service on this store, used, and stopped. */
async function useService(storeUrl: string): Promise<void> {
  const service = await start(storeUrl);
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
  const body = '{"name":"Rex","categoryId":7}';
  const keyed = { ...headers, 'Idempotency-Key': 'once' };
  const { status } = await fetch(`${service.url}/pets`, { method: 'POST', headers: keyed, body });
  expect(status).to.equal(201);
  await (await fetch(`${service.url}/pets`, { headers })).text();
  expect(await service.stop(0)).to.equal(true);
}

describe('A stopped service leaves no timer or handle', () => {
  // Node.js keeps what its own fetch has opened, once.
  before(() => useService('memory:'));
  afterEach(removeFolders);

  it('unlike one that runs', async () => {
    const running: AsyncDisposable[] = [];
    const left = await leftBehind(async () => running.push(await start('memory:')));
    for (const service of running) await service[Symbol.asyncDispose]();
    expect(left).to.deep.equal(['TCPSERVERWRAP of Node.js']);
  });

  it('on a store in memory', async () => {
    expect(await leftBehind(() => useService('memory:'))).to.deep.equal([]);
  });

  it('on an SQLite store', async () => {
    expect(
      await leftBehind(() => useService(`sqlite:${temporaryFolder()}/animals.db`)),
    ).to.deep.equal([]);
  });
});
