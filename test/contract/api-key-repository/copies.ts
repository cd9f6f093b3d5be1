import { assert } from '../assert.js';
import type { ApiKeyRecord } from '../../../src/application/ports/api-key-repository.js';
import { fullKey, type ApiKeyRepositoryCase } from './subject.js';

/** Changes everything in a key that can be changed in place. */
function spoil(key: ApiKeyRecord | undefined): void {
  assert.ok(key);
  for (const date of [key.createdAt, key.expiresAt, key.revokedAt]) date?.setTime(7);
  Reflect.set(key.scopes, 'length', 0);
  Reflect.set(key, 'name', 'spoiled');
}

export const copiesCases: readonly ApiKeyRepositoryCase[] = [
  {
    name: 'keeps its own copy of a key: changing the one given changes nothing, even before the answer',
    async run({ keys }) {
      const given = fullKey();
      const adding = keys.add(given);
      spoil(given);
      await adding;
      assert.deepEqual(await keys.findById('full'), fullKey());
    },
  },
  {
    name: 'gives copies, dates and scopes included: changing a result changes nothing that is kept',
    async run({ keys }) {
      await keys.add(fullKey());
      spoil(await keys.findById('full'));
      assert.deepEqual(await keys.findById('full'), fullKey());
      const listed = await keys.list();
      spoil(listed[0]);
      Reflect.set(listed, 'length', 0);
      assert.deepEqual(await keys.list(), [fullKey()]);
    },
  },
  {
    name: 'keeps its own copy of what a change returns, and gives another one',
    async run({ keys }) {
      await keys.add({ ...fullKey(), name: 'before' });
      const returned = fullKey();
      const updating = keys.update('full', () => returned);
      const answer = await updating;
      assert.deepEqual(answer, fullKey());
      spoil(returned);
      assert.deepEqual(answer, fullKey());
      spoil(answer);
      assert.deepEqual(await keys.findById('full'), fullKey());
    },
  },
  {
    name: 'hands a copy to the change: keeping it and changing it later changes nothing',
    async run({ keys }) {
      await keys.add(fullKey());
      const handed: ApiKeyRecord[] = [];
      await keys.update('full', (key) => {
        handed.push(key);
        return key;
      });
      for (const key of handed) spoil(key);
      assert.deepEqual(await keys.findById('full'), fullKey());
    },
  },
];
