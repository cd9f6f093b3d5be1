import { assert } from '../assert.js';
import type { ApiKeyRecord } from '../../../src/application/ports/api-key-repository.js';
import { rejectionOf } from '../rejection.js';
import { times } from '../samples.js';
import { addKeys, fullKey, sampleKey, type ApiKeyRepositoryCase } from './subject.js';

/** A change that shows when it was lost: it takes effect at most once, and keeps what others did. */
export const append =
  (word: string) =>
  (key: ApiKeyRecord): ApiKeyRecord => ({ ...key, name: `${key.name} ${word}` });

export const updatingCases: readonly ApiKeyRepositoryCase[] = [
  {
    name: 'updates a key, and answers with it as it is now',
    async run({ keys }) {
      await addKeys(keys, [sampleKey(), fullKey()]);
      const changed = { ...fullKey(), ...sampleKey(), replacedBy: 'k3', revokedAt: new Date(5) };
      assert.deepEqual(await keys.update('k1', () => changed), changed);
      assert.deepEqual(await keys.findById('k1'), changed);
      assert.deepEqual(await keys.findById('full'), fullKey());
    },
  },
  {
    name: 'hands the change the key as it is kept',
    async run({ keys }) {
      await keys.add(fullKey());
      const seen: ApiKeyRecord[] = [];
      await keys.update('full', (key) => {
        seen.push(key);
        return key;
      });
      assert.ok(seen.length > 0);
      for (const key of seen) assert.deepEqual(key, fullKey());
      assert.deepEqual(await keys.findById('full'), fullKey());
    },
  },
  {
    name: 'removes what an update leaves out or makes undefined',
    async run({ keys }) {
      await keys.add(fullKey());
      const { replacedBy, ...rest } = fullKey();
      assert.ok(replacedBy);
      await keys.update('full', () => ({ ...rest, expiresAt: undefined, revokedAt: undefined }));
      const found = await keys.findById('full');
      assert.ok(found);
      assert.deepEqual(
        [found.expiresAt, found.revokedAt, found.replacedBy],
        [undefined, undefined, undefined],
      );
      assert.equal(found.name, rest.name);
    },
  },
  {
    name: 'keeps the id, the hash and the time of creation, whatever an update makes of them',
    async run({ keys }) {
      await keys.add(fullKey());
      const stolen = { id: 'stolen', hash: 'f'.repeat(64), createdAt: new Date(1) };
      const expected = { ...fullKey(), name: 'changed' };
      assert.deepEqual(
        await keys.update('full', (key) => ({ ...key, ...stolen, name: 'changed' })),
        expected,
      );
      assert.deepEqual(await keys.list(), [expected]);
      assert.equal(await keys.findById('stolen'), undefined);
    },
  },
  {
    name: 'answers an update of an id that no key has with undefined, and calls no change',
    async run({ keys }) {
      await keys.add(sampleKey());
      let calls = 0;
      const answer = await keys.update('nobody', () => {
        calls += 1;
        return sampleKey({ id: 'nobody' });
      });
      assert.equal(answer, undefined);
      assert.equal(calls, 0);
      assert.deepEqual(await keys.list(), [sampleKey()]);
    },
  },
  {
    name: 'lets each of twenty simultaneous updates take effect once',
    async run({ keys }) {
      await keys.add(sampleKey({ name: '' }));
      const words = times(20, (number) => `w${number}`);
      const answers = await Promise.all(words.map((word) => keys.update('k1', append(word))));
      const name = (await keys.findById('k1'))?.name ?? '';
      assert.deepEqual(name.trim().split(' ').sort(), [...words].sort());
      // Each answer is the key after that update: its own word came last.
      for (const [index, answer] of answers.entries()) {
        assert.ok(answer);
        assert.ok(answer.name.endsWith(` ${words[index]}`));
        assert.ok(name.startsWith(answer.name));
      }
    },
  },
  {
    name: 'rejects with what the change throws, and changes nothing',
    async run({ keys }) {
      await keys.add(fullKey());
      const thrown = new RangeError('no such change');
      const updating = keys.update('full', (key) => {
        Object.assign(key, { name: 'half changed' });
        throw thrown;
      });
      assert.equal(await rejectionOf(updating), thrown);
      assert.deepEqual(await keys.findById('full'), fullKey());
      assert.deepEqual(await keys.update('full', append('later')), append('later')(fullKey()));
    },
  },
];
