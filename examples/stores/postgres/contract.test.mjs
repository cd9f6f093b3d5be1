import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { storeTests } from 'animal-store/contract';
import pg from 'pg';
import { openPostgresStore } from './adapter.mjs';
import { missingServer, startPostgres } from './postgres-server.mjs';

/** A connection that removes an animal is lost while it does so. */
const LOSE = `
  CREATE RULE lose AS ON DELETE TO pets
  DO INSTEAD SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)`;

const FIDO = { name: 'Fido', categoryId: 1n, status: 'sold' };
const missing = await missingServer();
if (missing && process.env.REQUIRE_POSTGRES === '1') throw new Error(missing);

describe('openPostgresStore', { skip: missing }, () => {
  let server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  async function open() {
    const { url, name } = await server.create();
    const another = () => openPostgresStore(url);
    const store = await another();
    return {
      store,
      another,
      async reopen() {
        await store.close();
        return another();
      },
      async close() {
        await store.close();
        await server.drop(name);
      },
    };
  }

  it('creates its tables once, even while another handle that found none already adds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const opened = await open();
      const handles = [opened.store, await opened.another()];
      const claim = {
        scope: 'a',
        key: 'b',
        fingerprint: 'c',
        keepUntil: Date.now() + 60_000,
      };
      const adding = Array.from({ length: 20 }, (_, index) =>
        handles[index % 2].pets.addOnce(FIDO, claim, Date.now()),
      );
      const results = await Promise.allSettled(adding);
      await handles[1].close();
      await opened.close();
      assert.deepEqual(
        results.flatMap(({ reason = [] }) => reason),
        [],
      );
    }
  });

  it('keeps an expired claim, for a process whose clock is behind', async () => {
    const opened = await open();
    const { pets } = opened.store;
    const claim = { scope: 'a', key: 'b', fingerprint: 'c', keepUntil: 1000 };
    await pets.addOnce(FIDO, claim, 0);
    await pets.addOnce(FIDO, { ...claim, key: 'another' }, 1000); // removes expired claims
    const { replayed } = await pets.addOnce(FIDO, claim, 999);
    await opened.close();
    assert.equal(replayed, true);
  });

  it('fails only the call whose connection is lost', async () => {
    const { url } = await server.create();
    const store = await openPostgresStore(url);
    const { id } = await store.pets.add(FIDO);
    const client = new pg.Client(url);
    await client.connect();
    await client.query(LOSE);
    await client.end();
    await assert.rejects(store.changes.remove(id), { code: 'service_unavailable' });
    assert.equal((await store.pets.findById(id)).id, id);
    await store.close();
  });

  storeTests({ describe, it, open, without: ['apiKeys', 'transfer'] });
});
