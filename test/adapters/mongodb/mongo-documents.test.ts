import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { Binary, Decimal128, Double, Int32, Long, ObjectId, type Collection } from 'mongodb';
import type { MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { describeOnMongo, uriOf, withDatabase } from './mongo-server.js';
import { claimOn, inDatabase, openMadeStore, rejection, rex } from './mongo-store-tests.js';

interface AnyDocument {
  readonly _id: unknown;
  readonly [field: string]: unknown;
}

const VALID = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

/** Documents in which no animal is, by what is wrong. Their ids are numbers, so that a list comes past them. */
const INVALID: Readonly<Record<string, Record<string, unknown>>> = {
  'no fields': { _id: 11n, name: undefined, categoryId: undefined, status: undefined },
  'no name': { _id: 12n, name: undefined },
  'a name of another type': { _id: 13n, name: 5n },
  'a blank name': { _id: 14n, name: ' ' },
  'a name with U+0000': { _id: 15n, name: 'a\0b' },
  'no category': { _id: 16n, categoryId: undefined },
  'a category that is no integer': { _id: 17n, categoryId: 1.5 },
  'a category that is text': { _id: 18n, categoryId: '7' },
  'a category that lost its digits': { _id: 19n, categoryId: 2 ** 60 },
  'a category that is a decimal': { _id: 20n, categoryId: Decimal128.fromString('7') },
  'no status': { _id: 21n, status: undefined },
  'an unknown status': { _id: 22n, status: 'lost' },
  'a status of another type': { _id: 23n, status: ['sold'] },
  'null everywhere': { _id: 24n, name: null, categoryId: null, status: null },
  'bytes for a name': { _id: 25n, name: new Binary(Buffer.from('Rex')) },
  'an id that is no integer': { _id: new Double(26.5) },
  'an id that is a decimal': { _id: Decimal128.fromString('27') },
  'an endless id': { _id: new Double(Infinity) },
};

describeOnMongo('A MongoDB store and documents of other programs:', (server) => {
  const withDocuments = (
    test: (
      store: MongoStore,
      insert: (collection: string, ...documents: readonly object[]) => Promise<void>,
      told: string[],
      collection: (name: string) => Collection<AnyDocument>,
    ) => Promise<void>,
  ): (() => Promise<void>) =>
    inDatabase(server, (database) =>
      withDatabase(server, database, async (client) => {
        const told: string[] = [];
        const tell = (line: string): void => void told.push(line);
        const store = await openMadeStore(uriOf(server, database), { tell });
        const collection = (name: string) => client.db().collection<AnyDocument>(name);
        const insert = async (name: string, ...documents: readonly object[]): Promise<void> => {
          await collection(name).insertMany(documents as AnyDocument[], {
            bypassDocumentValidation: true,
            ignoreUndefined: true,
          });
        };
        try {
          await test(store, insert, told, collection);
        } finally {
          await store.close();
        }
      }),
    );

  it(
    'reads animals whose integers are int32, double or Long, in one order, and never what else is in them',
    withDocuments(async ({ pets }, insert) => {
      await insert(
        'pets',
        { ...VALID, _id: new Int32(1), categoryId: new Int32(-7) },
        { ...VALID, _id: new Double(2), categoryId: new Double(-0) },
        { ...VALID, _id: Long.fromNumber(3), categoryId: Long.MAX_VALUE },
        { ...VALID, _id: 4n, secret: 'x', owner: { password: 'x' }, id: 99, $odd: 1 },
        { ...VALID, _id: new Double(2 ** 40), categoryId: 2 ** 53 - 1 },
      );
      const expected = [
        { ...VALID, id: 1n, categoryId: -7n },
        { ...VALID, id: 2n, categoryId: 0n },
        { ...VALID, id: 3n, categoryId: 2n ** 63n - 1n },
        { ...VALID, id: 4n, categoryId: 7n },
        { ...VALID, id: 2n ** 40n, categoryId: 2n ** 53n - 1n },
      ];
      expect(await pets.list({ limit: 20 })).to.deep.equal(expected);
      expect(await pets.list({ after: 2n, limit: 2, status: 'sold' })).to.deep.equal(expected.slice(2, 4));
      for (const pet of expected) expect(await pets.findById(pet.id)).to.deep.equal(pet);
      const { pet } = await pets.add(rex);
      expect(pet.id > 2n ** 40n).to.equal(true);
    }),
  );

  it(
    'passes over what is no animal, in lists and by its id, tells of each once, and fills the page with the next',
    withDocuments(async ({ pets }, insert, told) => {
      await insert(
        'pets',
        { ...VALID, _id: 10n },
        ...Object.values(INVALID).map((wrong) => Object.assign({}, VALID, wrong)),
      );
      await insert('pets', { ...VALID, _id: 40n }, { ...VALID, _id: 41n }, { ...VALID, _id: 42n });
      await insert(
        'pets',
        { ...VALID, _id: 'text' },
        { ...VALID, _id: new ObjectId() },
        { ...VALID, _id: null },
      );
      const ids = (await pets.list({ limit: 3 })).map(({ id }) => id);
      expect(ids).to.deep.equal([10n, 40n, 41n]);
      expect((await pets.list({ limit: 50 })).map(({ id }) => id)).to.deep.equal([10n, 40n, 41n, 42n]);
      expect((await pets.list({ after: 12n, limit: 1 })).map(({ id }) => id)).to.deep.equal([40n]);
      for (const { _id } of Object.values(INVALID)) {
        if (typeof _id === 'bigint') expect(await pets.findById(_id)).to.equal(undefined);
      }
      const lines = told.filter((line) => line.includes('passed over'));
      expect(lines).to.have.length(Object.keys(INVALID).length);
      expect(lines[0]).to.equal(
        'the document 11n in pets is passed over: its fields are missing, of wrong types or not valid',
      );
      expect(lines.join()).to.not.include('Rex');
    }),
  );

  it(
    'never gives the id of a document that it passes over to an animal',
    withDocuments(async ({ pets }, insert, _, collection) => {
      const { pet } = await pets.add(rex);
      const wrong = Array.from({ length: 30 }, (__, index) => ({
        _id: pet.id + 1n + BigInt(index),
        name: 'wrong',
      }));
      await insert('pets', ...wrong);
      const next = await pets.add(rex);
      expect(next.pet.id > pet.id + 30n).to.equal(true);
      expect(await collection('pets').countDocuments({ name: 'wrong' })).to.equal(30);
    }),
  );

  for (const [what, wrong] of Object.entries({
    'a revocation that is text': { revokedAt: '2026-01-01' },
    'a revocation that is null': { revokedAt: null },
    'an expiry that is a number': { expiresAt: 0 },
    'a scope that is unknown': { scopes: ['pets:read', 'all'] },
    'scopes that are text': { scopes: 'pets:read' },
    'no time of creation': { createdAt: undefined },
    'a hash of another type': { hash: 5 },
  })) {
    it(
      `takes a key with ${what} for no key, and tells of it without its hash`,
      withDocuments(async ({ apiKeys }, insert, told) => {
        const hash = 'f'.repeat(64);
        await insert('apiKeys', { _id: 'k', name: 'k', hash, scopes: [], createdAt: new Date(0), ...wrong });
        expect(await apiKeys.findById('k')).to.equal(undefined);
        expect(await apiKeys.list()).to.deep.equal([]);
        expect(await apiKeys.update('k', (key) => key)).to.equal(undefined);
        expect(told.filter((line) => line.includes('passed over'))).to.have.length(1);
        expect(told.join()).to.not.include(hash);
      }),
    );
  }

  it(
    'changes a key that another program wrote without our bookkeeping',
    withDocuments(async ({ apiKeys }, insert) => {
      const key = { name: 'k', hash: 'f'.repeat(64), scopes: ['pets:read' as const], createdAt: new Date(0) };
      await insert('apiKeys', { _id: 'k', ...key });
      const revokedAt = new Date(5);
      const changed = await apiKeys.update('k', (found) => ({ ...found, revokedAt }));
      expect(changed).to.deep.equal({ id: 'k', ...key, revokedAt });
      expect(await apiKeys.findById('k')).to.deep.equal(changed);
    }),
  );

  for (const [what, change] of Object.entries({
    'has no animal': { $unset: { pet: '' } },
    'has no operation': { $unset: { 'pet.operation': '' } },
    'has a time that is text': { $set: { keepUntil: 'tomorrow' } },
    'has no fingerprint': { $unset: { fingerprint: '' } },
  })) {
    it(
      `says that it cannot tell, and adds nothing, when a claim was changed and ${what}`,
      withDocuments(async ({ pets }, _, __, collection) => {
        await pets.add(rex, { claim: claimOn('t') });
        await collection('claims').updateOne({}, change as never);
        const error = await rejection(pets.add(rex, { claim: claimOn('t') }));
        expect(error).to.have.property('code', 'service_unavailable');
        expect(await pets.list({ limit: 5 })).to.have.length(1);
      }),
    );
  }

  it(
    'keeps what it wrote as int64, and has others refused who would write anything else',
    withDocuments(async ({ pets }, _, told, collection) => {
      while (!told.some((line) => line.includes('collection apiKeys'))) await delay(10);
      const { pet } = await pets.add({ ...rex, categoryId: 5n });
      for (const field of ['_id', 'categoryId']) {
        expect(await collection('pets').countDocuments({ [field]: { $type: 'long' } })).to.equal(1);
      }
      for (const wrong of [{ categoryId: 1.5 }, { name: 5 }, { status: 'lost' }, { _id: 'text' }]) {
        const error = await rejection(collection('pets').insertOne({ ...VALID, _id: 900n, ...wrong }));
        expect(error).to.have.property('code', 121);
      }
      expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
    }),
  );
});
