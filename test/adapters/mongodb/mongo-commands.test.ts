import { expect } from 'chai';
import type { Document } from 'mongodb';
import { PET_FIELDS, petWithId } from '../../../src/domain/pet.js';
import { until } from '../../until.js';
import { times } from '../../contract/samples.js';
import {
  addOnce,
  apiKey,
  claimOn,
  describeStore,
  rex,
  untilPrepared,
} from './mongo-store-tests.js';

const WRITES = ['insert', 'update', 'findAndModify'];

const nameOf = (command: Document): string => Object.keys(command)[0] ?? '';

const named = (commands: readonly Document[], ...names: readonly string[]): Document[] =>
  commands.filter((command) => names.includes(nameOf(command)));

/** The longest that the server may work on a command: two fifths of a minute. */
const LONGEST = 24_000;

describeStore('The commands of a MongoDB store', ({ onStore, throughProxy }) => {
  throughProxy(
    'write an animal by one command, since ids come in blocks',
    {},
    async ({ store, proxy }) => {
      for (let count = 0; count < 20; count += 1) await store.pets.add(rex);

      const writes = named(proxy.commands, ...WRITES);
      expect(writes.map(nameOf), '20 animals and one block').to.have.length(21);
    },
  );

  throughProxy(
    'write journaled by a majority, retryable, in no transaction',
    {},
    async ({ store, proxy }) => {
      const pets = times(100, (id) => petWithId(BigInt(id), rex));
      await store.pets.add(rex);
      await addOnce(store);
      await addOnce(store);
      await store.apiKeys.add(apiKey);
      await store.apiKeys.revoke('k', Date.now());
      await store.transfer.reserveIds(100n);
      await store.transfer.writePets(pets);
      await store.transfer.writeClaims([{ ...claimOn('t'), petId: 5n }]);

      const writes = named(proxy.commands, ...WRITES);
      expect(new Set(writes.map(nameOf))).to.deep.equal(new Set(WRITES));
      for (const write of writes) {
        const { writeConcern, maxTimeMS } = write;
        expect(writeConcern, nameOf(write)).to.include({
          w: 'majority',
          j: true,
        });
        expect(Number(writeConcern.wtimeout), 'wtimeout').to.equal(2000);
        expect(Number(maxTimeMS), 'maxTimeMS').to.be.within(1, LONGEST);
        expect(write).to.include.keys('lsid', 'txnNumber');
        expect(write).to.not.have.any.keys('startTransaction', 'autocommit');
      }
      // A hundred animals at once, and in any order, so that one that fails stops none.
      const batches = named(writes, 'update').slice(-2);
      for (const batch of batches) expect(batch).to.include({ ordered: false });
      const deletes = named(writes, 'delete');
      expect(deletes).to.deep.equal([]);
    },
  );

  throughProxy(
    'read what a majority has, from the primary, in bounded time, and only fields of an animal',
    {},
    async ({ store, proxy }) => {
      const { pet } = await addOnce(store);
      await untilPrepared(proxy);
      proxy.commands.length = 0;

      await store.pets.findById(pet.id);
      await store.pets.list({ limit: 21 });
      await store.pets.list({
        after: 5n,
        limit: 21,
        status: 'sold',
      });
      await store.check();
      await store.apiKeys.findById('k');
      await store.apiKeys.list();
      await store.transfer.readClaims({ limit: 5, now: Date.now() });

      const reads = named(proxy.commands, 'find');
      expect(reads, 'one for each call, and the animals of the claims').to.have.length(8);
      for (const { readConcern, maxTimeMS, $readPreference } of reads) {
        expect(readConcern).to.deep.include({ level: 'majority' });
        expect(Number(maxTimeMS), 'maxTimeMS').to.be.within(1, LONGEST);
        expect($readPreference?.mode ?? 'primary').to.match(/^primary(?:Preferred)?$/);
      }
      for (const { projection } of reads.slice(0, 3)) {
        const fields = Object.keys(projection).filter((field) => field !== 'removedUntil');
        expect(fields).to.deep.equal(['_id', ...PET_FIELDS]);
      }
    },
  );

  throughProxy(
    'never have the server stream its state: the driver would die of a bigint in an election',
    { query: '&heartbeatFrequencyMS=500' },
    async ({ store, proxy }) => {
      await store.pets.list({ limit: 1 });
      const greetings = () => named(proxy.commands, 'hello');
      await until('servers are monitored', async () => greetings().length > 0);

      for (const hello of greetings()) expect(hello).to.not.have.property('topologyVersion');
    },
  );

  onStore('contain whatever a caller gives as a value, never as an operator', async ({ store }) => {
    const { pets, apiKeys } = store;
    const pet = await pets.add(rex);
    await apiKeys.add(apiKey);
    const operator: never = { $ne: null } as never;

    const listed = await pets.list({ limit: 5, status: operator });
    const found = await pets.findById(operator);
    const foundKey = await apiKeys.findById(operator);
    const revoked = await apiKeys.revoke(operator, Date.now());

    expect({
      listed,
      found,
      foundKey,
      revoked,
    }).to.deep.equal({
      listed: [],
      found: undefined,
      foundKey: undefined,
      revoked: undefined,
    });
    expect(await pets.findById(pet.id)).to.deep.equal(pet);
  });
});
