import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { ApiKeyRecord } from '../../../src/application/ports/api-key-repository.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { onStore, rejection } from './temporary-store.js';

const key = (id: string, change: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  id,
  name: 'laptop',
  hash: 'ab'.repeat(32),
  scopes: ['pets:read', 'pets:write'],
  createdAt: new Date(1_700_000_000_123),
  ...change,
});

describe('SqliteApiKeyRepository', () => {
  it(
    'keeps a key as it is, through reopening, and leaves out what was left out',
    onStore(async ({ file, apiKeys, close }) => {
      const bare = key('bare');
      const full = key('full', {
        scopes: ['pets:read'],
        createdAt: new Date(-1),
        expiresAt: new Date(8_640_000_000_000_000),
        revokedAt: new Date(0),
        replacedBy: 'bare',
      });
      await apiKeys.add(bare);
      await apiKeys.add(full);
      await close();
      const store = await openSqliteStore(file);
      expect(await store.apiKeys.findById('bare')).to.deep.equal(bare);
      expect(await store.apiKeys.findById('bare')).to.have.all.keys(
        'id',
        'name',
        'hash',
        'scopes',
        'createdAt',
      );
      expect(await store.apiKeys.findById('full')).to.deep.equal(full);
      await store.close();
    }),
  );

  it(
    'keeps every text to the code unit',
    onStore(async ({ apiKeys }) => {
      for (const text of ['a\0b', '\uD800', '"\\', '', '🦊']) {
        await apiKeys.add(key(text, { name: text, replacedBy: text }));
        expect(await apiKeys.findById(text)).to.deep.equal(key(text, { name: text, replacedBy: text }));
      }
      expect(await apiKeys.findById('a')).to.equal(undefined);
    }),
  );

  it(
    'lists by age, then by id in code units, where SQLite would compare code points',
    onStore(async ({ apiKeys }) => {
      const ids = ['a', 'B', '\uFF5E', '🦊', 'a"'];
      for (const id of ids) await apiKeys.add(key(id));
      await apiKeys.add(key('z', { createdAt: new Date(0) }));
      expect((await apiKeys.list()).map(({ id }) => id)).to.deep.equal(['z', ...ids.sort()]);
    }),
  );

  it(
    'refuses an id that is taken, and changes nothing, also within one turn',
    onStore(async ({ apiKeys }) => {
      const outcomes = await Promise.all([apiKeys.add(key('k')), apiKeys.add(key('k', { name: 'other' }))]);
      expect(outcomes).to.deep.equal([true, false]);
      expect(await apiKeys.findById('k')).to.deep.equal(key('k'));
    }),
  );

  it(
    'lets simultaneous updates both take effect',
    onStore(async ({ apiKeys }) => {
      await apiKeys.add(key('k', { name: '' }));
      await Promise.all(
        ['a', 'b', 'c'].map((letter) =>
          apiKeys.update('k', (before) => ({ ...before, name: before.name + letter })),
        ),
      );
      expect((await apiKeys.findById('k'))?.name).to.equal('abc');
    }),
  );

  it(
    'keeps id, hash and age through any update, and takes away what the change leaves out',
    onStore(async ({ apiKeys }) => {
      await apiKeys.add(key('k', { expiresAt: new Date(5) }));
      const changed = await apiKeys.update('k', (before) => {
        before.createdAt.setTime(0);
        return key('other', { hash: 'no', createdAt: new Date(1), revokedAt: new Date(6), name: 'new' });
      });
      expect(changed).to.deep.equal(key('k', { revokedAt: new Date(6), name: 'new' }));
      expect(await apiKeys.list()).to.deep.equal([changed]);
    }),
  );

  it(
    'changes nothing, and spoils nothing else of the turn, when the change throws',
    onStore(async ({ apiKeys }) => {
      await apiKeys.add(key('k'));
      const fault = new Error('thought better of it');
      const outcomes = await Promise.allSettled([
        apiKeys.update('k', (before) => ({ ...before, name: 'first' })),
        apiKeys.update('k', () => {
          throw fault;
        }),
        apiKeys.add(key('l')),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(outcomes[1]).to.have.property('reason', fault);
      expect((await apiKeys.list()).map(({ name }) => name)).to.deep.equal(['first', 'laptop']);
    }),
  );

  it(
    'resolves to undefined for a key that is not there, without asking for the change',
    onStore(async ({ apiKeys }) => {
      expect(await apiKeys.update('k', () => expect.fail('asked'))).to.equal(undefined);
    }),
  );

  it(
    'shares nothing with its callers',
    onStore(async ({ apiKeys }) => {
      const given = key('k');
      const added = apiKeys.add(given);
      given.createdAt.setTime(0);
      await added;
      (await apiKeys.findById('k'))?.createdAt.setTime(1);
      expect(await apiKeys.findById('k')).to.deep.equal(key('k'));
    }),
  );

  it(
    'shows a change to every other connection at once',
    onStore(async ({ file, apiKeys }) => {
      const other = await openSqliteStore(file);
      await apiKeys.add(key('k'));
      expect(await other.apiKeys.findById('k')).to.deep.equal(key('k'));
      await other.close();
    }),
  );

  it(
    'refuses everything after close',
    onStore(async ({ apiKeys }) => {
      await apiKeys.close();
      await apiKeys.close();
      for (const call of [
        () => apiKeys.add(key('k')),
        () => apiKeys.findById('k'),
        () => apiKeys.list(),
        () => apiKeys.update('k', (before) => before),
      ]) {
        expect(await rejection(call())).to.be.instanceOf(UnavailableError);
      }
    }),
  );
});
