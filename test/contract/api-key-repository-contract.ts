import type { Call } from '../../src/application/animal-store.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../src/application/ports/api-key-repository.js';
import { assert } from './assert.js';
import { promise, type Contract } from './contract.js';
import { rejectsWhenAborted, rejectsWithCode } from './rejection.js';
import { TRICKY_NAMES, fullApiKey, sampleApiKey, times, words } from './samples.js';
import {
  notDurable,
  notShared,
  anotherHandle,
  besideReads,
  reopened,
  required,
  type StoreCase,
  type StoreSubject,
} from './store-subject.js';

interface ApiKeyCase extends Pick<StoreCase, 'name' | 'unless'> {
  readonly run: (apiKeys: ApiKeyRepository, subject: StoreSubject) => Promise<void>;
}

/** Adds the keys simultaneously. */
async function addKeys(apiKeys: ApiKeyRepository, records: readonly ApiKeyRecord[]): Promise<void> {
  const added = await Promise.all(records.map((record) => apiKeys.add(record)));
  assert.ok(added.every((isNew) => isNew));
}

/** Changes everything in a key that can be changed in place. */
function spoil(apiKey: ApiKeyRecord | undefined): void {
  assert.ok(apiKey);
  for (const date of [apiKey.createdAt, apiKey.expiresAt, apiKey.revokedAt]) date?.setTime(7);
  Reflect.set(apiKey.scopes, 'length', 0);
  Reflect.set(apiKey, 'name', 'spoiled');
}

/** The milliseconds at which a store of seconds, of 32 bits or of four digits of a year goes wrong first. */
const TIMES = [0, 1, 999, 1000, 2 ** 31 * 1000, 2 ** 32 * 1000 + 1, Date.UTC(9999, 11, 31, 23, 59, 59, 999)];

const STORED: Readonly<Record<string, ApiKeyRecord>> = {
  'every field': fullApiKey(),
  'no optional field': sampleApiKey(),
  'an empty name': sampleApiKey({ name: '' }),
  'no scopes': sampleApiKey({ scopes: [] }),
  'scopes that no version knows': sampleApiKey({ scopes: ['pets:groom', 'pets:read', ' a "b" , é'] }),
  ...Object.fromEntries(
    TIMES.map((time) => [
      `the time ${new Date(time).toISOString()}`,
      sampleApiKey({ createdAt: new Date(time), expiresAt: new Date(time), revokedAt: new Date(time) }),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(TRICKY_NAMES).map(([what, name]) => [`a name with ${what}`, sampleApiKey({ name })]),
  ),
};

const ODD_IDS = ['', 'k1 ', ' k1', 'x'.repeat(1000), ...words('k K1 k10 % * __proto__ constructor')];

const storingCases: readonly ApiKeyCase[] = [
  ...Object.entries(STORED).map(([what, apiKey]): ApiKeyCase =>
    promise(`stores a key exactly: ${what}`, async (apiKeys) => {
      assert.equal(await apiKeys.add(apiKey), true);
      assert.deepEqual(await apiKeys.findById(apiKey.id), apiKey);
      assert.deepEqual(await apiKeys.list(), [apiKey]);
    }),
  ),
  promise('resolves to undefined for an id that no key has', async (apiKeys) => {
    for (const id of ODD_IDS) assert.equal(await apiKeys.findById(id), undefined, id);
    await apiKeys.add(sampleApiKey());
    for (const id of ODD_IDS) assert.equal(await apiKeys.findById(id), undefined, id);
  }),
  promise('resolves to false for an id that is taken, and changes nothing', async (apiKeys) => {
    assert.equal(await apiKeys.add(sampleApiKey()), true);
    assert.equal(await apiKeys.add(sampleApiKey()), false);
    assert.equal(await apiKeys.add({ ...fullApiKey(), id: sampleApiKey().id }), false);
    assert.deepEqual(await apiKeys.list(), [sampleApiKey()]);
  }),
  promise('gives an id to one of twenty simultaneous adds, and stores that one', async (apiKeys) => {
    const records = times(20, (number) => sampleApiKey({ name: `key ${number}` }));
    const added = await Promise.all(records.map((record) => apiKeys.add(record)));
    const winners = records.filter((_, index) => added[index]);
    assert.equal(winners.length, 1);
    assert.deepEqual(await apiKeys.list(), winners);
  }),
  promise(
    'shows a change to the next read, even one that found nothing or another key just before',
    async (apiKeys) => {
      assert.equal(await apiKeys.findById('k1'), undefined);
      assert.deepEqual(await apiKeys.list(), []);
      await apiKeys.add(sampleApiKey());
      assert.deepEqual(await apiKeys.findById('k1'), sampleApiKey());
      assert.deepEqual(await apiKeys.list(), [sampleApiKey()]);
      const revoked = await apiKeys.revoke('k1', new Date(5));
      assert.deepEqual(await apiKeys.findById('k1'), revoked);
      assert.deepEqual(await apiKeys.list(), [revoked]);
    },
  ),
  promise(
    'lists every one of hundreds of keys in ascending order of creation, whatever the order of the adds',
    async (apiKeys) => {
      const records = times(300, (number) =>
        sampleApiKey({ id: `k${500 - number}`, createdAt: new Date(999_999_999_900 + number) }),
      );
      await addKeys(
        apiKeys,
        records.map((_, index) => records[(index * 7) % 300] ?? fullApiKey()),
      );
      assert.deepEqual(await apiKeys.list(), records);
    },
  ),
  promise(
    'lists keys that were created at the same time in the order of the code units of their ids',
    async (apiKeys) => {
      const ids = [
        '-',
        '0',
        '00',
        '10',
        '9',
        'A',
        'AB',
        'B',
        'Z',
        '_',
        'a',
        'aB',
        'ab',
        'b',
        'z',
        '🦊',
        '～',
      ];
      await addKeys(
        apiKeys,
        [...ids.slice(7).toReversed(), ...ids.slice(0, 7)].map((id) => sampleApiKey({ id })),
      );
      assert.deepEqual(
        (await apiKeys.list()).map(({ id }) => id),
        ids,
      );
    },
  ),
  promise(
    'stores its own copy of a key: changing the argument changes nothing, even before `add` resolves',
    async (apiKeys) => {
      const given = fullApiKey();
      const adding = apiKeys.add(given);
      spoil(given);
      await adding;
      assert.deepEqual(await apiKeys.findById('full'), fullApiKey());
    },
  ),
  promise(
    'returns copies, including dates and scopes: changing a result changes nothing in the store',
    async (apiKeys) => {
      await apiKeys.add(fullApiKey());
      spoil(await apiKeys.findById('full'));
      const listed = await apiKeys.list();
      spoil(listed[0]);
      Reflect.set(listed, 'length', 0);
      assert.deepEqual(await apiKeys.findById('full'), fullApiKey());
      assert.deepEqual(await apiKeys.list(), [fullApiKey()]);
    },
  ),
];

const revokingCases: readonly ApiKeyCase[] = [
  ...Object.entries({ past: new Date(5), future: new Date(Date.UTC(2999, 0)) }).map(
    ([when, at]): ApiKeyCase =>
      promise(`revokes a key at an instant in the ${when}, and changes nothing else`, async (apiKeys) => {
        const { revokedAt: _, ...unrevoked } = fullApiKey();
        await addKeys(apiKeys, [sampleApiKey(), unrevoked]);
        assert.deepEqual(await apiKeys.revoke('full', at), { ...unrevoked, revokedAt: at });
        assert.deepEqual(await apiKeys.findById('full'), { ...unrevoked, revokedAt: at });
        assert.deepEqual(await apiKeys.findById('k1'), sampleApiKey());
      }),
  ),
  promise(
    'keeps the earliest instant of several revocations, so that a retry changes nothing',
    async (apiKeys) => {
      await apiKeys.add(sampleApiKey());
      for (const [at, earliest] of [
        [2000, 2000],
        [2000, 2000],
        [2001, 2000],
        [1999, 1999],
        [3000, 1999],
      ] as const) {
        const expected = sampleApiKey({ revokedAt: new Date(earliest) });
        assert.deepEqual(await apiKeys.revoke('k1', new Date(at)), expected, `revoked at ${at}`);
        assert.deepEqual(await apiKeys.findById('k1'), expected);
      }
    },
  ),
  promise(
    'resolves to undefined for a revocation of an id that no key has, and stores nothing',
    async (apiKeys) => {
      await apiKeys.add(sampleApiKey());
      for (const id of ODD_IDS) assert.equal(await apiKeys.revoke(id, new Date(5)), undefined, id);
      assert.deepEqual(await apiKeys.list(), [sampleApiKey()]);
    },
  ),
  promise('copies the instant of a revocation, and returns a copy of the key', async (apiKeys) => {
    await apiKeys.add(sampleApiKey());
    const at = new Date(5);
    const revoking = apiKeys.revoke('k1', at);
    at.setTime(9);
    spoil(await revoking);
    assert.deepEqual(await apiKeys.findById('k1'), sampleApiKey({ revokedAt: new Date(5) }));
  }),
];

const OPERATIONS: Readonly<Record<string, (apiKeys: ApiKeyRepository, call?: Call) => Promise<unknown>>> = {
  add: (apiKeys, call) => apiKeys.add(sampleApiKey({ id: 'k2' }), call),
  findById: (apiKeys, call) => apiKeys.findById('k1', call),
  list: (apiKeys, call) => apiKeys.list(call),
  revoke: (apiKeys, call) => apiKeys.revoke('k1', new Date(5), call),
};

const endingCases: readonly ApiKeyCase[] = [
  promise('closes the whole store, and may be closed twice', async (apiKeys, { pets }) => {
    await Promise.all([apiKeys.close(), apiKeys.close()]);
    await apiKeys.close();
    await rejectsWithCode(pets.check(), 'service_unavailable');
  }),
  ...Object.entries(OPERATIONS).flatMap(([operation, call]): ApiKeyCase[] => [
    promise(
      `rejects with service_unavailable after the store was closed: ${operation}`,
      async (apiKeys, { pets }) => {
        await apiKeys.add(sampleApiKey());
        await call(apiKeys);
        await pets.close();
        await rejectsWithCode(call(apiKeys), 'service_unavailable');
      },
    ),
    promise(
      `rejects with the reason of an aborted signal, and changes nothing: ${operation}`,
      async (apiKeys) => {
        await apiKeys.add(sampleApiKey());
        await apiKeys.findById('k1');
        const before = await apiKeys.list();
        await rejectsWhenAborted((aborted) => call(apiKeys, aborted));
        assert.deepEqual(await apiKeys.list(), before);
      },
    ),
  ]),
];

const handleCases: readonly ApiKeyCase[] = [
  {
    name: 'has every key exactly as before after closing and opening again',
    unless: notDurable,
    async run(apiKeys, subject) {
      await addKeys(apiKeys, [sampleApiKey(), fullApiKey()]);
      const revoked = await apiKeys.revoke('k1', new Date(5));
      const again = required((await reopened(subject)).apiKeys);
      assert.deepEqual(await again.findById('full'), fullApiKey());
      assert.deepEqual(await again.findById('k1'), revoked);
      assert.equal(await again.add(sampleApiKey()), false);
    },
  },
  {
    name: 'shows a change to the next read of another handle, even one that found nothing just before',
    unless: notShared,
    async run(apiKeys, subject) {
      const other = required((await anotherHandle(subject)).apiKeys);
      assert.equal(await other.findById('k1'), undefined);
      assert.deepEqual(await other.list(), []);
      await apiKeys.add(sampleApiKey());
      assert.deepEqual(await other.findById('k1'), sampleApiKey());
      assert.equal(await other.add(sampleApiKey({ name: 'another' })), false);
      for (const revokedAt of times(5, (number) => new Date(100 - number))) {
        await apiKeys.revoke('k1', revokedAt);
        assert.deepEqual(await other.findById('k1'), sampleApiKey({ revokedAt }));
        assert.deepEqual(await other.list(), [sampleApiKey({ revokedAt })]);
      }
    },
  },
  {
    name: 'shows each key and its revocation at once to another handle that reads all the time',
    unless: notShared,
    async run(apiKeys, subject) {
      const other = required((await anotherHandle(subject)).apiKeys);
      await besideReads(
        () => other.list(),
        async (number) => {
          const key = sampleApiKey({ id: `k${number}` });
          await apiKeys.add(key);
          assert.deepEqual(await other.findById(key.id), key);
          const revoked = await apiKeys.revoke(key.id, new Date(5));
          assert.deepEqual(await other.findById(key.id), revoked);
        },
      );
    },
  },
  {
    name: 'keeps the earliest instant of twenty simultaneous revocations, through two handles if it is shared',
    async run(apiKeys, subject) {
      const other = subject.another ? required((await subject.another()).apiKeys) : apiKeys;
      await apiKeys.add(sampleApiKey());
      await Promise.all(
        times(20, (number) =>
          (number % 2 === 0 ? apiKeys : other).revoke('k1', new Date(1000 + ((number * 7 + 3) % 20))),
        ),
      );
      assert.deepEqual((await other.findById('k1'))?.revokedAt, new Date(1000));
    },
  },
];

/** What every store of API keys promises. */
export const apiKeyRepositoryContract: Contract<StoreSubject> = {
  port: 'ApiKeyRepository',
  cases: [...storingCases, ...revokingCases, ...endingCases, ...handleCases].map(({ name, unless, run }) => ({
    name,
    unless: (subject) => (subject.apiKeys ? unless?.(subject) : 'the store keeps no API keys'),
    run: (subject) => run(required(subject.apiKeys), subject),
  })),
};
