import { expect } from 'chai';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, temporaryFolder } from '../../service/running-service.js';
import { KEY, Serving, Shelf, runLine } from '../test-io.js';
import { TOKENS, type Adapter, type Wiring } from '../../../src/bootstrap/service/wiring.js';

const HOUR = 3_600_000;

describe('The clock that is bound to its token is that of', () => {
  /** Stands still, decades from the machine's, until the test sets it. */
  let now: Date;
  let store: CompleteStore;
  let modules: readonly Adapter[];
  beforeEach(() => {
    now = new Date('2100-01-01T00:00:00Z');
    store = openMemoryStore();
    const clock = ({ replace }: Wiring) => replace(TOKENS.clock, { now: () => new Date(now) });
    modules = [new Shelf({ ...store }).module, clock];
  });
  afterEach(cleanUp);

  const wait = (hours: number): void => {
    now = new Date(now.getTime() + hours * HOUR);
  };
  const shell = async (line: string): Promise<string> => {
    const { code, out, err } = await runLine(line, { STORE_URL: 'shelf:' }, modules);
    expect(code, `${line}\n${err}`).to.equal(0);
    return out;
  };

  it('the authenticator: a key expires by it', async () => {
    const key = (await shell('keys issue --name till --expires 2h')).trim();
    const url = await new Serving({ STORE_URL: 'shelf:', API_KEYS: KEY }, ...modules).ready();
    const status = async (): Promise<number> =>
      (await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } })).status;
    wait(1);

    expect(await status(), 'an hour before it expires').to.equal(200);

    wait(1);
    expect(await status(), 'when it has expired').to.equal(401);
  });

  it('managing keys: a new key has its time', async () => {
    await shell('keys issue --name till --expires 2h');
    const [record] = await store.apiKeys.list();
    expect([record?.createdAt, record?.expiresAt]).to.deep.equal([
      now.getTime(),
      now.getTime() + 2 * HOUR,
    ]);
  });

  it('the animal store: an idempotency key expires by it', async () => {
    const url = await new Serving({ STORE_URL: 'shelf:', API_KEYS: KEY }, ...modules).ready();
    const create = async (): Promise<string | null> => {
      const headers = {
        Authorization: `Bearer ${KEY}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'order-1',
      };
      const body = '{"name":"Bella","categoryId":1}';
      return (await fetch(`${url}/pets`, { method: 'POST', headers, body })).headers.get(
        'location',
      );
    };

    expect(await create()).to.equal('/v1/pets/1');

    wait(23);
    expect(await create(), 'within a day').to.equal('/v1/pets/1');

    wait(1000);
    expect(await create(), 'weeks later').to.equal('/v1/pets/2');
  });

  it('the log: it warns of a deprecated call once on each of its days', async () => {
    const serving = new Serving({ STORE_URL: 'shelf:', API_KEYS: KEY }, ...modules);
    const url = await serving.ready();
    const headers = { Authorization: `Bearer ${KEY}` };
    for (const hours of [0, 23, 1, 1]) {
      wait(hours);
      await fetch(`${url}/pets/1`, { headers });
    }
    await fetch(`${url}/pets`, { headers });
    await serving.io.said(/"listPets"/);

    expect(serving.io.messages.filter((text) => text.startsWith('deprecated'))).to.have.length(2);
  });

  it('import: a line counts as added with --once until its time is over', async () => {
    const file = join(temporaryFolder(), 'a.csv');
    writeFileSync(file, 'name,categoryId\nBella,1\n');
    const added = async (): Promise<unknown> =>
      (JSON.parse(await shell(`import ${file} --once --json`)) as { added: unknown }).added;

    expect(await added(), 'animals that were added').to.equal(1);
    expect(await added(), 'at the same time').to.equal(0);

    wait(24 * 365 * 200);
    expect(await added(), 'two centuries later').to.equal(1);
  });

  it('copy: idempotency keys that have expired by it are not copied', async () => {
    const pet = { name: 'Bella', categoryId: 1n, status: 'sold' } as const;
    for (const [key, hours] of Object.entries({ one: 1, two: 3 })) {
      const keepUntil = now.getTime() + hours * HOUR;
      const claim = { scope: 'till', key, fingerprint: '1', keepUntil };
      await store.pets.addOnce(pet, claim, now.getTime());
    }
    wait(2);
    const target = new Shelf({}, 'other');
    modules = [...modules, target.module];
    const report = JSON.parse(await shell('copy --from shelf: --to other: --json')) as object;

    expect(report).to.include({ pets: 2, claims: 1 });
  });
});
