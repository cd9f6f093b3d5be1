import { expect } from 'chai';
import { createContainer, readSettings, startService } from '../../src/bootstrap/index.js';
import { leftBehind } from './leaks.js';
import { cleanUp, testFile } from '../adapters/sqlite/test-store.js';

const KEY = 'a-key-of-these-tests';

/** A service on this store, used, and stopped. */
async function useService(storeUrl: string): Promise<void> {
  const container = await createContainer(
    readSettings({ STORE_URL: storeUrl, API_KEYS: KEY, PORT: '0' }),
  );
  const service = await startService(container);
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
  afterEach(cleanUp);

  it('on a store in memory', async () => {
    expect(await leftBehind(() => useService('memory:'))).to.deep.equal([]);
  });

  it('on an SQLite store', async () => {
    expect(await leftBehind(() => useService(`sqlite:${testFile()}`))).to.deep.equal([]);
  });
});
