import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { savedPet } from '../../../src/domain/pet.js';
import { describeOnMongo } from './mongo-server.js';
import { claimOn, onStore, rejection, rex, throughProxy } from './mongo-store-tests.js';

const pets = (count: number) => Array.from({ length: count }, (_, index) => savedPet(BigInt(index + 1), rex));

// Lost replies, commands and documents of other programs: in the tests of those.
describeOnMongo('A MongoDB catalogue that is moved', (server) => {
  it(
    'does not read a claim whose animal is missing or has another id, and goes on with the next ones',
    onStore(server, async ({ store, collection }) => {
      const ids: bigint[] = [];
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        ids.push((await store.pets.add(rex, { claim: claimOn(key) })).pet.id);
      }
      // As if the processes had ended between the two writes.
      await collection('pets').deleteMany({ _id: { $in: ids.slice(0, 3) } } as Document);
      await store.transfer.writePets([savedPet(ids[1] ?? 0n, { ...rex, name: 'Another' })]);
      const now = new Date();
      const first = await store.transfer.readClaims({ limit: 2, now });
      expect(first.map(({ key }) => key)).to.deep.equal(['d']);
      const next = await store.transfer.readClaims({ after: first.at(-1), limit: 2, now });
      expect(next.map(({ key, petId }) => [key, petId])).to.deep.equal([['e', ids[4]]]);
      expect(await store.transfer.readClaims({ after: next.at(-1), limit: 2, now })).to.deep.equal([]);
    }),
  );

  it(
    'refuses a claim whose animal is not stored, naming the animal',
    onStore(server, async ({ store: { transfer } }) => {
      const claim = { ...claimOn('t'), petId: 9n };
      expect(await rejection(transfer.writeClaims([claim])))
        .to.have.nested.property('cause.message')
        .that.includes('animal 9');
    }),
  );

  it(
    'knows how far the ids went also when the counter was lost',
    onStore(server, async ({ store: { transfer }, collection }) => {
      await transfer.writePets([savedPet(77n, rex)]);
      expect(await collection('counters').countDocuments()).to.equal(0);
      expect(await transfer.survey()).to.deep.equal({ pets: 1, lastId: 77n });
    }),
  );

  it(
    'waits with a batch for a database that is away, longer than a request would',
    throughProxy(
      server,
      async ({ store: { pets: repository, transfer }, proxy }) => {
        await proxy.close();
        const writing = transfer.writePets(pets(20));
        await rejection(repository.list({ limit: 5 }));
        await delay(200);
        await proxy.open();
        await writing;
        expect(await repository.list({ limit: 50 })).to.deep.equal(pets(20));
      },
      { timeout: 300 },
    ),
  );
});
