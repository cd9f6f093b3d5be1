import { assert } from '../assert.js';
import { anotherHandle, reopened } from '../handles.js';
import { times } from '../samples.js';
import { append } from './updating.js';
import { DURABLE, SHARED, addKeys, fullKey, sampleKey, type ApiKeyRepositoryCase } from './subject.js';

/** What outlives a handle: the same store opened again, and what other processes see of it. */
export const outlivingCases: readonly ApiKeyRepositoryCase[] = [
  {
    name: 'has every key exactly as it was after closing and opening again',
    needs: DURABLE,
    async run(subject) {
      await addKeys(subject.keys, [sampleKey(), fullKey()]);
      await subject.keys.update('k1', append('changed'));
      const keys = await reopened(subject);
      assert.deepEqual(await keys.findById('full'), fullKey());
      assert.deepEqual(await keys.findById('k1'), append('changed')(sampleKey()));
      assert.equal(await keys.add(sampleKey()), false);
    },
  },
  {
    name: 'shows an added and a changed key to another handle as soon as the call is answered',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      await subject.keys.add(sampleKey());
      assert.deepEqual(await other.findById('k1'), sampleKey());
      for (const revokedAt of times(10, (number) => new Date(number))) {
        await subject.keys.update('k1', (key) => ({ ...key, revokedAt }));
        assert.deepEqual(await other.findById('k1'), sampleKey({ revokedAt }));
        assert.deepEqual(await other.list(), [sampleKey({ revokedAt })]);
      }
    },
  },
  {
    name: 'refuses an id that is taken through another handle',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      await other.add(sampleKey());
      assert.equal(await subject.keys.add(sampleKey({ name: 'another' })), false);
      assert.deepEqual(await subject.keys.list(), [sampleKey()]);
    },
  },
  {
    name: 'lets each of twenty simultaneous updates through two handles take effect once',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      await subject.keys.add(sampleKey({ name: '' }));
      const words = times(20, (number) => `w${number}`);
      await Promise.all(
        words.map((word, index) => (index % 2 === 0 ? subject.keys : other).update('k1', append(word))),
      );
      const name = (await subject.keys.findById('k1'))?.name ?? '';
      assert.deepEqual(name.trim().split(' ').sort(), [...words].sort());
    },
  },
];
