import { expect } from 'chai';
import { join } from 'node:path';
import { KEY, Serving } from '../bootstrap/test-io.js';
import { cleanUp, startedService, temporaryFolder } from './running-service.js';
import { StoreClient } from './store-client.js';

const CLIENTS = 8;
const ROUNDS = 2;

/** Adds animals one after the other until the service dies; notes which were acknowledged. */
async function addUntilBroken(
  url: string,
  prefix: string,
  acknowledged: Array<readonly [string, string]>,
): Promise<void> {
  const client = new StoreClient(KEY);
  try {
    for (let turn = 0; ; turn += 1) {
      const name = `${prefix}-${turn}`;
      acknowledged.push([await client.add(url, name), name]);
    }
  } catch (error) {
    // Only a broken connection may end it: another status is a fault.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  } finally {
    client.close();
  }
}

/** Serves the store of `folder` in this process, beside others. */
const servedHere = (folder: string): Promise<string> =>
  new Serving({ STORE_URL: `sqlite:${join(folder, 'data/animal-store.db')}`, API_KEYS: KEY }).ready();

describe('An SQLite store', () => {
  afterEach(async () => {
    await Serving.stopAll();
    await cleanUp();
  });

  it('loses no acknowledged animal, and has none twice, when its service is killed under load', async () => {
    const folder = temporaryFolder();
    const acknowledged: Array<readonly [string, string]> = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { child, url } = await startedService(folder);
      const before = acknowledged.length;
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        addUntilBroken(url, `${round}-${client}`, acknowledged),
      );
      const due = performance.now() + 50 + (250 * round) / (ROUNDS - 1);
      const kill = setInterval(() => {
        if (performance.now() >= due && acknowledged.length > before) child.signal('SIGKILL');
      }, 1);
      await Promise.all(clients);
      clearInterval(kill);
      expect((await child.ended).signal).to.equal('SIGKILL');
      expect(acknowledged.length, `acknowledged in round ${round}`).to.be.above(before);
    }
    const animals = await new StoreClient(KEY, false).all(await servedHere(folder));
    const wrong = acknowledged.filter(([id, name]) => animals.get(id) !== name);
    expect(wrong, 'acknowledged, but lost or different').to.deep.equal([]);
    expect(new Set(acknowledged.map(([id]) => id)).size, 'ids assigned once').to.equal(acknowledged.length);
    expect(new Set(animals.values()).size, 'names stored once').to.equal(animals.size);
  }).timeout(60_000);
});
