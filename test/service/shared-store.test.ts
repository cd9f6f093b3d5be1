import { expect } from 'chai';
import { join } from 'node:path';
import { KEY, Serving } from '../bootstrap/test-io.js';
import { cleanUp, program, startedService, temporaryFolder } from './running-service.js';
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

describe('Services that use one store', () => {
  afterEach(cleanUp);

  it('lose no acknowledged animal, and have none twice, when killed under load', async () => {
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
      expect(await child.ended).to.include({ signal: 'SIGKILL' });
      expect(acknowledged.length, `acknowledged in round ${round}`).to.be.above(before);
    }
    const STORE_URL = `sqlite:${join(folder, 'data/animal-store.db')}`;
    const next = await new Serving({ STORE_URL, API_KEYS: KEY }).ready();
    const animals = await new StoreClient(KEY, false).all(next);
    const wrong = acknowledged.filter(([id, name]) => animals.get(id) !== name);

    expect(wrong, 'acknowledged, but lost or different').to.deep.equal([]);
    expect(new Set(acknowledged.map(([id]) => id)).size, 'ids assigned once').to.equal(
      acknowledged.length,
    );
    expect(new Set(animals.values()).size, 'names stored once').to.equal(animals.size);
  });

  it('issue one key when they start for the first time at once', async () => {
    const folder = temporaryFolder();
    const settings = { PORT: '0', STORE_URL: 'sqlite:animals.db', LOG_FORMAT: 'json' };
    const children = [1, 2, 3].map(() => program(folder, ['serve'], settings));
    const url = (await Promise.all(children.map((child) => child.ready())))[0] ?? '';
    const keys = children.flatMap(({ out }) => /ast_live_\w+/.exec(out) ?? []);

    expect(keys).to.have.length(1);

    await new StoreClient(keys[0] ?? '', false).add(url, 'Bella');
  });
});
