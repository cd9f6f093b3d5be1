import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { ObjectId, type Document } from 'mongodb';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { claimOn, describeStore, rejection, rex } from './mongo-store-tests.js';

const pets = Array.from({ length: 20 }, (_, index) => petWithId(BigInt(index + 1), rex));

// Lost replies, commands and documents of other programs: in the tests of those.
describeStore('A MongoDB catalogue that is moved', ({ onStore, throughProxy }) => {
  const orphans =
    'does not read a claim whose animal is missing or has another id, and goes on with the next ones';
  onStore(orphans, async ({ store: { pets: repository, transfer }, collection }) => {
    const ids: bigint[] = [];
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      ids.push((await repository.addOnce(rex, claimOn(key), Date.now())).pet.id);
    }
    // As if the processes had ended between the two writes.
    await collection('pets').deleteMany({ _id: { $in: ids.slice(0, 3) } } as Document);
    const another = { _id: ids[1], ...rex, name: 'Another', operation: new ObjectId() };
    await collection('pets').insertOne(another);
    const now = Date.now();
    const first = await transfer.readClaims({ limit: 2, now });
    expect(first.map(({ key }) => key)).to.deep.equal(['d']);
    const next = await transfer.readClaims({ after: first.at(-1), limit: 2, now });
    expect(next.map(({ key, petId }) => [key, petId])).to.deep.equal([['e', ids[4]]]);
    expect(await transfer.readClaims({ after: next.at(-1), limit: 2, now })).to.deep.equal([]);
  });

  const left =
    'keeps what is left of a removed animal as long as its last claim, and reads it as no animal';
  onStore(left, async ({ store: { pets: repository, transfer, changes }, collection }) => {
    const inAYear = Date.now() + 365 * 24 * 60 * 60 * 1000;
    const plain = await repository.add(rex);
    const claim = claimOn('t', { keepUntil: inAYear });
    const { pet: claimed } = await repository.addOnce(rex, claim, Date.now());
    await transfer.writeClaims([{ ...claimOn('sooner'), petId: claimed.id }]);
    for (const [key, keepUntil] of [
      ['sooner', Date.now()],
      ['last', inAYear],
      ['again', Date.now()],
    ] as const)
      await transfer.writeClaims([{ ...claimOn(`removed ${key}`, { keepUntil }), petId: 9000n }]);
    for (const { id } of [plain, claimed])
      expect(await changes.remove(id, PET_STATUSES)).to.equal(true);
    const documents = await collection('pets').find().sort({ _id: 1 }).toArray();
    const until = documents.map(({ removedUntil }) => (removedUntil as Date).getTime());
    expect(Math.abs((until[0] ?? 0) - Date.now())).to.be.below(60_000);
    expect(until.slice(1)).to.deep.equal([inAYear, inAYear]);
    expect(documents.flatMap((document) => Object.keys(document))).to.not.include('name');
    expect(await transfer.survey()).to.include({ pets: 0 });
    expect(await repository.list({ limit: 5 })).to.deep.equal([]);

    // An animal that is stored under its id again ends its claims.
    await transfer.writePets([claimed]);
    expect(await changes.remove(claimed.id, PET_STATUSES)).to.equal(true);
    const again = await collection('pets').findOne({ _id: claimed.id } as Document);
    expect(Math.abs(Number(again?.['removedUntil']) - Date.now())).to.be.below(60_000);
  });

  onStore(
    'knows how far the ids went when the counter was lost or restored',
    async ({ store, collection }) => {
      await store.transfer.writePets([petWithId(77n, rex)]);
      expect(await collection('counters').countDocuments()).to.equal(0);
      expect(await store.transfer.survey()).to.deep.equal({ pets: 1, lastId: 77n });
      await collection('counters').insertOne({ _id: 'pets', last: 5n });
      expect(await store.transfer.survey()).to.deep.equal({ pets: 1, lastId: 77n });
    },
  );

  const patient = 'waits in each call for a database that is away, longer than a request would';
  throughProxy(
    patient,
    { timeout: 300 },
    async ({ store: { pets: repository, transfer }, proxy }) => {
      await transfer.writePets(pets.slice(0, 1));
      await proxy.close();
      const waiting = [
        transfer.writePets(pets),
        transfer.writeClaims([{ ...claimOn('t'), petId: 1n }]),
        transfer.readClaims({ limit: 1, now: Date.now() }),
        transfer.reserveIds(100n),
      ];
      await rejection(repository.list({ limit: 5 }));
      await delay(2000);
      await proxy.open();
      await Promise.all(waiting);
      expect(await repository.list({ limit: 50 })).to.deep.equal(pets);
    },
  );
});
