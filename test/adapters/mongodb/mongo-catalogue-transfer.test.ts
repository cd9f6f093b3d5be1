import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { ObjectId, type Document } from 'mongodb';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { times } from '../../contract/samples.js';
import {
  addOnce,
  claimOn,
  describeStore,
  expectListed,
  rejection,
  rex,
  succeeding,
} from './mongo-store-tests.js';

const YEAR = 365 * 24 * 60 * 60 * 1000;

const pets = times(20, (id) => petWithId(BigInt(id), rex));

// Lost replies, commands and documents of other programs: in the tests of those.
describeStore('A MongoDB catalogue that is moved', ({ onStore, throughProxy }) => {
  onStore(
    'does not read a claim whose animal is missing or has another id, and goes on with the next ones',
    async ({ store, collection }) => {
      const { transfer } = store;
      const ids: bigint[] = [];
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        const { pet } = await addOnce(store, claimOn(key));
        ids.push(pet.id);
      }
      // As if the processes had ended between the two writes.
      const missing = { _id: { $in: ids.slice(0, 3) } };
      await collection('pets').deleteMany(missing as Document);
      await collection('pets').insertOne({
        ...rex,
        _id: ids[1],
        operation: new ObjectId(),
      });
      const now = Date.now();

      const first = await transfer.readClaims({ limit: 2, now });
      const next = await transfer.readClaims({
        after: first.at(-1),
        limit: 2,
        now,
      });
      const rest = await transfer.readClaims({
        after: next.at(-1),
        limit: 2,
        now,
      });

      const read = [first, next, rest].map((claims) => claims.map(({ key }) => key));
      expect(read).to.deep.equal([['d'], ['e'], []]);
      expect(next[0]).to.have.property('petId', ids[4]);
    },
  );

  onStore(
    'keeps what is left of a removed animal until its last claim expires, replays it, and reads it as no animal',
    async ({ store, collection }) => {
      const { transfer, changes } = store;
      const inAYear = Date.now() + YEAR;
      const plain = await store.pets.add(rex);
      const { pet: claimed } = await addOnce(store, claimOn('t', { keepUntil: inAYear }));
      const long = { ...claimOn('a', { keepUntil: inAYear }), petId: 9000n };
      const short = { ...claimOn('b'), petId: 9000n };
      // Of a removed animal: two claims in one batch, and one more.
      const another = { ...claimOn('c'), petId: claimed.id };
      await transfer.writeClaims([another, short, long]);
      await transfer.writeClaims([short]);

      for (const { id } of [plain, claimed]) await changes.remove(id, PET_STATUSES);

      const documents = await collection('pets').find().sort({ _id: 1 }).toArray();
      const [ofPlain, ...ofClaimed] = documents.map(({ removedUntil }) => Number(removedUntil));
      // As good as now, even on a busy machine.
      expect(ofPlain, 'without a claim').to.be.closeTo(Date.now(), 60_000);
      expect(ofClaimed, 'with claims').to.deep.equal([inAYear, inAYear]);
      const fields = documents.flatMap((document) => Object.keys(document));
      expect(fields).to.not.include('name');
      const survey = await transfer.survey();
      expect(survey).to.include({ pets: 0 });
      for (const claim of [long, short]) {
        const replay = await addOnce(store, claim);
        expect(replay).to.deep.equal({
          pet: petWithId(9000n, rex),
          replayed: true,
        });
      }
      await expectListed(store.pets, []);
    },
  );

  onStore(
    'knows how far the ids went when the counter was lost or restored',
    async ({ store, collection }) => {
      await store.transfer.writePets([petWithId(77n, rex)]);

      const whenLost = await store.transfer.survey();
      await collection('counters').insertOne({ _id: 'pets', last: 5n });
      const whenRestored = await store.transfer.survey();

      const expected = { pets: 1, lastId: 77n };
      expect(whenLost, 'lost').to.deep.equal(expected);
      expect(whenRestored, 'restored').to.deep.equal(expected);
    },
  );

  throughProxy(
    'waits in each call for a database that is unreachable, longer than a request would',
    { timeout: 300 },
    async ({ store, proxy }) => {
      const { transfer } = store;
      await transfer.writePets(pets.slice(0, 1));
      await proxy.close();

      const waiting = Promise.all([
        transfer.writePets(pets),
        transfer.writeClaims([{ ...claimOn('t'), petId: 1n }]),
        transfer.readClaims({ limit: 1, now: Date.now() }),
        transfer.reserveIds(100n),
      ]);
      await rejection(store.pets.list({ limit: 5 }));
      await delay(2000);
      await proxy.open();
      await waiting;

      const listed = await succeeding(() => store.pets.list({ limit: 100 }));
      expect(listed).to.deep.equal(pets);
    },
  );
});
