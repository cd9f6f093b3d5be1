import { assert } from '../assert.js';
import type { ApiKeyRecord } from '../../../src/application/ports/api-key-repository.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import { TRICKY_NAMES, times } from '../samples.js';
import {
  addKeys,
  fullKey,
  sampleKey,
  type ApiKeyRepositoryCase,
  type ApiKeyRepositorySubject,
} from './subject.js';

const keepsExactly =
  (key: ApiKeyRecord) =>
  async ({ keys }: ApiKeyRepositorySubject): Promise<void> => {
    assert.equal(await keys.add(key), true);
    assert.deepEqual(await keys.findById(key.id), key);
    assert.deepEqual(await keys.list(), [key]);
  };

/** The milliseconds at which a store of seconds, of 32 bits or of four digits of a year goes wrong first. */
const TIMES = [0, 1, 999, 1000, 2 ** 31 * 1000, 2 ** 32 * 1000 + 1, Date.UTC(9999, 11, 31, 23, 59, 59, 999)];

export const keepingCases: readonly ApiKeyRepositoryCase[] = [
  { name: 'keeps a key that has everything', run: keepsExactly(fullKey()) },
  { name: 'keeps absent what is absent', run: keepsExactly(sampleKey()) },
  ...TIMES.map((time) => ({
    name: `keeps times exact to the millisecond: ${new Date(time).toISOString()}`,
    run: keepsExactly(
      sampleKey({ createdAt: new Date(time), expiresAt: new Date(time), revokedAt: new Date(time) }),
    ),
  })),
  ...[[], SCOPES.slice(0, 1), SCOPES.slice(1), [...SCOPES]].map((scopes) => ({
    name: `keeps the scopes [${scopes.join(', ')}]`,
    run: keepsExactly(sampleKey({ scopes })),
  })),
  { name: 'keeps an empty name', run: keepsExactly(sampleKey({ name: '' })) },
  ...Object.entries(TRICKY_NAMES).map(([what, name]) => ({
    name: `keeps a name with ${what} exactly`,
    run: keepsExactly(sampleKey({ name })),
  })),
  {
    name: 'finds no key under an id that none has, and says so without an error',
    async run({ keys }) {
      const odd = [
        '',
        'k',
        'K1',
        'k1 ',
        ' k1',
        'k10',
        '%',
        '*',
        '__proto__',
        'constructor',
        'x'.repeat(1000),
      ];
      for (const id of odd) assert.equal(await keys.findById(id), undefined, id);
      await keys.add(sampleKey({ id: 'k1' }));
      for (const id of odd) assert.equal(await keys.findById(id), undefined, id);
    },
  },
  {
    name: 'refuses an id that is taken by answering false, and changes nothing',
    async run({ keys }) {
      assert.equal(await keys.add(sampleKey()), true);
      assert.equal(await keys.add(sampleKey()), false);
      assert.equal(await keys.add({ ...fullKey(), id: sampleKey().id }), false);
      assert.deepEqual(await keys.list(), [sampleKey()]);
    },
  },
  {
    name: 'lets one of twenty simultaneous adds have an id, and keeps that one',
    async run({ keys }) {
      const records = times(20, (number) => sampleKey({ name: `key ${number}` }));
      const answers = await Promise.all(records.map((record) => keys.add(record)));
      const winners = records.filter((_, index) => answers[index]);
      assert.equal(winners.length, 1);
      assert.deepEqual(await keys.list(), winners);
    },
  },
  {
    name: 'lists nothing when there is nothing',
    async run({ keys }) {
      assert.deepEqual(await keys.list(), []);
    },
  },
  {
    name: 'lists in ascending order of the times of creation, whatever the order of the adds',
    async run({ keys }) {
      const records = times(12, (number) =>
        sampleKey({ id: `k${20 - number}`, createdAt: new Date(999_999_999_990 + number) }),
      );
      const mixed = records.map((_, index) => records[(index * 5) % 12] ?? fullKey());
      for (const record of mixed) await keys.add(record);
      assert.deepEqual(await keys.list(), records);
    },
  },
  {
    name: 'lists keys of one time in the order of the code units of their ids',
    async run({ keys }) {
      const ids = ['-', '0', '00', '10', '9', 'A', 'AB', 'B', 'Z', '_', 'a', 'aB', 'ab', 'b', 'z'];
      await addKeys(
        keys,
        [...ids.slice(7).toReversed(), ...ids.slice(0, 7)].map((id) => sampleKey({ id })),
      );
      assert.deepEqual(
        (await keys.list()).map(({ id }) => id),
        ids,
      );
    },
  },
];
