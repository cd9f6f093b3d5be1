import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { animalStoreClient } from '../../src/adapters/http/client/index.js';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { petPages } from '../../src/application/pet-pages.js';
import { KEY } from './running-service.js';
import { temporaryFolder } from '../temporary-folder.js';
import { until } from '../until.js';
import { cleanUp, program } from './child-process.js';

const CLIENTS = 8;

/** Adds animals to the service one after the other until it refuses connections. Resolves to their names by id. */
async function addUntilRefused(url: string, prefix: string, acknowledged: Map<bigint, string>) {
  const client = animalStoreClient({ baseUrl: url, apiKey: KEY, retries: 0 });
  for (let turn = 0; ; turn += 1) {
    const name = `${prefix} ${turn}`;
    try {
      const { pet } = await client.createPet({ name, categoryId: 1 });
      expect(acknowledged.has(pet.id)).to.equal(false);
      acknowledged.set(pet.id, name);
    } catch (error) {
      if ((error as { code?: string }).code !== 'service_unavailable') throw error;
      if (!(await fetch(url).catch(() => false))) return;
    }
  }
}

describe('Processes on one store', () => {
  let folder: string;

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  it('lose no acknowledged animal when one is killed or stopped under load', async () => {
    const acknowledged = new Map<bigint, string>();
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const child = program(folder, 'serve', { PORT: '0', API_KEYS: KEY });
      const url = await child.ready();
      const before = acknowledged.size;
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        addUntilRefused(url, `${signal} ${client}`, acknowledged),
      );
      await until('some are acknowledged', () => acknowledged.size > before + 3 * CLIENTS);
      expect(await child.stop(signal)).to.equal(signal === 'SIGTERM' ? 0 : signal);
      await Promise.all(clients);
    }

    const store = await openSqliteStore(`${folder}/data/animal-store.db`, { mode: 'read' });
    const stored = new Map<bigint, string>();
    for await (const page of petPages(store.pets))
      for (const { id, name } of page) stored.set(id, name);
    await store.close();
    const lost = [...acknowledged].filter(([id, name]) => stored.get(id) !== name);
    expect(lost).to.deep.equal([]);
    expect(new Set(stored.values()).size).to.equal(stored.size);
  });

  it('issue one key when they start for the first time at once', async () => {
    const children = [1, 2, 3].map(() => program(folder, 'serve', { PORT: '0' }));
    const urls = await Promise.all(children.map((child) => child.ready()));
    const keys = children.flatMap(({ out }) => /ast_live_\w+/.exec(out) ?? []);

    expect(keys).to.have.lengthOf(1);
    for (const url of urls) {
      const client = animalStoreClient({ baseUrl: url, apiKey: String(keys[0]) });
      await client.createPet({ name: 'Rex', categoryId: 1 });
    }
  });

  it('accept a key that a command issues, refuse it once revoked, and write it nowhere', async () => {
    const env = { STORE_URL: 'sqlite:a.db', API_KEYS: KEY };
    const service = program(folder, 'serve', { ...env, PORT: '0' });
    const url = await service.ready();
    const issuing = program(folder, 'keys issue --name shop', env);
    expect(await issuing.ended).to.equal(0);
    const key = issuing.out.trimEnd();
    const request = () => fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await request()).status).to.equal(200);

    const [, id] = /Issued key (\w+)/.exec(issuing.err) ?? [];
    expect(await program(folder, `keys revoke ${id}`, env).ended).to.equal(0);
    const body = await until('the key is refused', async () => {
      const response = await request();
      return response.status === 401 && response.text();
    });
    expect(await service.stop()).to.equal(0);

    const secret = key.split('_')[3] ?? '';
    expect(body + service.out + service.err + issuing.err).not.to.include(secret);
    for (const name of readdirSync(folder))
      expect(readFileSync(`${folder}/${name}`, 'latin1'), name).not.to.include(secret);
  });
});
