import { assert } from '../assert.js';
import { addKeys, fullKey, sampleKey } from '../api-key-repository/subject.js';
import { times } from '../samples.js';
import type { CatalogueTransferCase } from './subject.js';

export const keyCases: readonly CatalogueTransferCase[] = [
  {
    name: 'reads every key as the repository of keys lists them',
    async run({ transfer, keys }) {
      assert.deepEqual(await transfer.readApiKeys(), []);
      await addKeys(keys, [
        fullKey(),
        ...times(5, (number) => sampleKey({ id: `k${9 - number}`, createdAt: new Date(number % 2) })),
      ]);
      assert.deepEqual(await transfer.readApiKeys(), await keys.list());
      assert.equal((await transfer.readApiKeys()).length, 6);
    },
  },
  {
    name: 'keeps written keys with all they have, for the repository of keys',
    async run({ transfer, keys }) {
      const odd = sampleKey({ id: 'odd', name: ' "é\u0301\\ ', scopes: [] });
      await transfer.writeApiKeys([sampleKey(), fullKey(), odd]);
      for (const key of [sampleKey(), fullKey(), odd]) assert.deepEqual(await keys.findById(key.id), key);
      assert.equal((await keys.list()).length, 3);
      assert.equal(await keys.add(sampleKey()), false);
    },
  },
  {
    name: 'keeps a key in the place of one with the same id, and leaves the others',
    async run({ transfer, keys }) {
      await addKeys(keys, [sampleKey(), { ...fullKey(), name: 'before', hash: '0'.repeat(64) }]);
      await transfer.writeApiKeys([fullKey()]);
      assert.deepEqual(await keys.findById('full'), fullKey());
      assert.deepEqual(await keys.findById('k1'), sampleKey());
      const bare = sampleKey({ id: 'full' });
      await transfer.writeApiKeys([bare]);
      assert.deepEqual(await keys.findById('full'), bare);
    },
  },
  {
    name: 'keeps its own copy of keys, dates included',
    async run({ transfer }) {
      const given = fullKey();
      const writing = transfer.writeApiKeys([given]);
      given.createdAt.setTime(0);
      await writing;
      for (const key of await transfer.readApiKeys()) key.createdAt.setTime(0);
      assert.deepEqual(await transfer.readApiKeys(), [fullKey()]);
    },
  },
];
