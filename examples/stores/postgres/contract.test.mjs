import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bindContract, storeContracts, storeSubject } from 'animal-store/contract';
import { openPostgresStore } from './adapter.mjs';
import { missingServer, startPostgres } from './postgres-server.mjs';

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
    return storeSubject(
      () => openPostgresStore(url),
      () => server.drop(name),
      {
        durable: true,
        shared: true,
        ordered: true,
      },
    );
  }

  it('creates its tables once, even while another handle that found none already adds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const subject = await open();
      const handles = [subject.pets, (await subject.another()).pets];
      const claim = {
        scope: 'a',
        key: 'b',
        fingerprint: 'c',
        keepUntil: Date.now() + 60_000,
      };
      const adding = Array.from({ length: 20 }, (_, index) =>
        handles[index % 2].addOnce(FIDO, claim, Date.now()),
      );
      const results = await Promise.allSettled(adding);
      await subject.dispose();
      assert.deepEqual(
        results.flatMap(({ reason = [] }) => reason),
        [],
      );
    }
  });

  // Each animal is one commit to the disk, so thousands take a while.
  const options = { timeLimit: 120_000, without: ['apiKeys', 'transfer'] };
  for (const contract of storeContracts)
    bindContract(contract, open, { describe, it, after }, options);
});
