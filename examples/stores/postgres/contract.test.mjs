import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bindContract, petChangesContract, petRepositoryContract } from 'animal-store/contract';
import { PostgresPetRepository } from './postgres-pet-repository.mjs';
import { missingServer, startPostgres } from './postgres-server.mjs';

const missing = await missingServer();
if (missing && process.env.REQUIRE_POSTGRES === '1') throw new Error(missing);

describe('PostgresPetRepository', { skip: missing }, () => {
  let server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  async function open() {
    const { url, name } = await server.create();
    const handles = [];
    const another = async () => {
      const pets = new PostgresPetRepository(url);
      handles.push(pets);
      return { pets, changes: pets };
    };
    const { pets } = await another();
    return {
      pets,
      changes: pets,
      another,
      ordered: true,
      reopen: () => pets.close().then(another),
      async dispose() {
        for (const handle of handles) await handle.close();
        await server.drop(name);
      },
    };
  }

  it('creates its tables once, even while another handle that found none already adds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const subject = await open();
      const handles = [subject.pets, (await subject.another()).pets];
      const claim = {
        scope: 'a',
        key: 'b',
        fingerprint: 'c',
        keepUntil: new Date(Date.now() + 60_000),
      };
      const adding = Array.from({ length: 20 }, (_, index) =>
        handles[index % 2].add({ name: 'Fido', categoryId: 1n, status: 'sold' }, { claim }),
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
  for (const contract of [petRepositoryContract, petChangesContract])
    bindContract(contract, open, { describe, it, after }, { timeLimit: 120_000 });
});
