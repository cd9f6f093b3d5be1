import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { rejectionOf } from '../contract/rejection.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { copyCatalogue } from '../../src/application/copy-catalogue.js';
import { petWithId } from '../../src/domain/pet.js';

const rex = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;
const record = { id: 'k', name: 'k', hash: 'h', scopes: [], createdAt: 1, revokedAt: 2 };

describe('copyCatalogue', () => {
  it('copies animals over several pages, API keys and the greatest id', async () => {
    const source = openMemoryStore();
    const pets = Array.from({ length: 2001 }, (_, index) => petWithId(BigInt(index) + 5n, rex));
    await source.transfer.writePets(pets, 9000n);
    await source.apiKeys.add(record);
    const target = openMemoryStore();

    expect(await copyCatalogue(source, target)).to.deep.equal({ pets: 2001, apiKeys: 1 });

    const reading = [0n, 1004n, 2004n].map((after) => target.pets.list({ after, limit: 1000 }));
    expect((await Promise.all(reading)).flat()).to.deep.equal(pets);
    expect(await target.apiKeys.list()).to.deep.equal([record]);
    expect((await target.pets.add(rex)).id).to.equal(9001n);
  });

  it('refuses a target that is not empty, and stores that cannot be copied', async () => {
    const used = openMemoryStore();
    await used.changes.remove((await used.pets.add(rex)).id, undefined);
    const keyed = openMemoryStore();
    await keyed.apiKeys.add(record);

    for (const target of [used, keyed])
      await rejects(copyCatalogue(openMemoryStore(), target), /not empty/);
    const lacking = { ...openMemoryStore(), transfer: undefined };
    await rejects(copyCatalogue(lacking, openMemoryStore()), { isPermanent: true });
    await rejects(copyCatalogue(openMemoryStore(), lacking), { isPermanent: true });
  });

  it('says to throw away a target that does not hold what the source holds', async () => {
    const source = openMemoryStore();
    await source.pets.add(rex);
    const target = openMemoryStore();
    const faultWith = async (writePets: () => Promise<void>): Promise<string> => {
      const lossy = { ...target, transfer: { ...target.transfer, writePets } };
      const { message, cause } = (await rejectionOf(copyCatalogue(source, lossy))) as Error;
      return `${message} ${(cause as Error).message}`;
    };

    expect(await faultWith(async () => {})).to.match(/throw the target away.+holds 0 of 1 animals/);
    const failing = faultWith(() => Promise.reject(new Error('full')));
    expect(await failing).to.match(/throw the target away.+full/);
  });
});
