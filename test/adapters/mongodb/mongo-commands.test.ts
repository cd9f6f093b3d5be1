import { expect } from 'chai';
import type { Document } from 'mongodb';
import { NEW_PET_FIELDS, petWithId } from '../../../src/domain/pet.js';
import { until } from '../../until.js';
import { apiKey, claimOn, describeStore, rex } from './mongo-store-tests.js';

const WRITES = ['insert', 'update', 'findAndModify'];

const nameOf = (command: Document): string => Object.keys(command)[0] ?? '';

const named = (commands: readonly Document[], ...names: readonly string[]): Document[] =>
  commands.filter((command) => names.includes(nameOf(command)));

const pets = Array.from({ length: 100 }, (_, index) => petWithId(BigInt(index + 1), rex));

describeStore('The commands of a MongoDB store', ({ onStore, throughProxy }) => {
  throughProxy(
    'write journaled by a majority, retryable, in no transaction',
    {},
    async ({ store, proxy }) => {
      for (let count = 0; count < 20; count += 1) await store.pets.add(rex);
      // Ids come in blocks, so that most animals cost one write.
      expect(proxy.commands.filter((command) => WRITES.includes(nameOf(command)))).to.have.length(
        21,
      );
      for (const claim of [claimOn('t'), claimOn('t')])
        await store.pets.addOnce(rex, claim, Date.now());
      await store.apiKeys.add(apiKey);
      await store.apiKeys.revoke('k', Date.now());
      await store.transfer.reserveIds(100n);
      await store.transfer.writePets(pets);
      await store.transfer.writeClaims([{ ...claimOn('t'), petId: 5n }]);
      const writes = named(proxy.commands, ...WRITES);
      expect(new Set(writes.map(nameOf))).to.deep.equal(new Set(WRITES));
      for (const write of writes) {
        expect(write['writeConcern'], nameOf(write)).to.include({ w: 'majority', j: true });
        expect(Number(write['writeConcern'].wtimeout)).to.equal(2000);
        expect(Number(write['maxTimeMS'])).to.be.within(1, 24_000);
        expect(write).to.include.keys('lsid', 'txnNumber');
        expect(write).to.not.have.any.keys('startTransaction', 'autocommit');
      }
      // A hundred animals at once, and in any order, so that one that fails stops none.
      for (const batch of named(writes, 'update').slice(-2))
        expect(batch).to.include({ ordered: false });
      expect(named(writes, 'delete')).to.deep.equal([]);
    },
  );

  const reading =
    'read what a majority has, from the primary, in bounded time, and only fields of an animal';
  throughProxy(reading, {}, async ({ store, proxy }) => {
    const { pet } = await store.pets.addOnce(rex, claimOn('t'), Date.now());
    proxy.commands.length = 0;
    await store.pets.findById(pet.id);
    await store.pets.list({ limit: 21 });
    await store.pets.list({ after: 5n, limit: 21, status: 'sold' });
    await store.check();
    await store.apiKeys.findById('k');
    await store.apiKeys.list();
    await store.transfer.readClaims({ limit: 5, now: Date.now() });
    const reads = named(proxy.commands, 'find');
    expect(reads).to.have.length(8);
    for (const read of reads) {
      expect(read['readConcern']).to.deep.include({ level: 'majority' });
      expect(Number(read['maxTimeMS'])).to.be.within(1, 24_000);
      expect(read['$readPreference']?.mode ?? 'primary').to.match(/^primary(?:Preferred)?$/);
    }
    for (const read of reads.slice(0, 3)) {
      const fields = Object.keys(read['projection']).filter((field) => field !== 'removedUntil');
      expect(fields).to.deep.equal(['_id', ...NEW_PET_FIELDS]);
    }
  });

  const polling =
    'never have the server stream its state: the driver would die of a bigint in an election';
  throughProxy(polling, { query: '&heartbeatFrequencyMS=500' }, async ({ store, proxy }) => {
    await store.pets.list({ limit: 1 });
    await until('servers are monitored', async () => named(proxy.commands, 'hello').length > 0);
    for (const hello of named(proxy.commands, 'hello'))
      expect(hello).to.not.have.property('topologyVersion');
  });

  onStore('contain whatever a caller gives as a value, never as an operator', async ({ store }) => {
    const { pets: repository, apiKeys } = store;
    const pet = await repository.add(rex);
    await apiKeys.add(apiKey);
    const operator: never = { $ne: null } as never;
    expect(await repository.list({ limit: 5, status: operator })).to.deep.equal([]);
    expect(await repository.findById(operator)).to.equal(undefined);
    expect(await apiKeys.findById(operator)).to.equal(undefined);
    expect(await apiKeys.revoke(operator, Date.now())).to.equal(undefined);
    for (const key of ['{"$ne":null}', '$where', '{$gt:1}']) {
      const claim = claimOn(key, { scope: '$where' });
      expect(
        (await repository.addOnce({ ...rex, name: key }, claim, Date.now())).replayed,
      ).to.equal(false);
      expect(
        (await repository.addOnce({ ...rex, name: key }, claim, Date.now())).replayed,
      ).to.equal(true);
    }
    expect(await repository.findById(pet.id)).to.deep.equal(pet);
  });
});
