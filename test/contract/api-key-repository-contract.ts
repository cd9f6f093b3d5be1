import type {
  ApiKeyRecord,
  ApiKeyRepository,
} from '../../src/application/ports/api-key-repository.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses, type Contract } from './contract.js';
import { TRICKY_NAMES, fullApiKey, sampleApiKey, times, words } from './samples.js';
import { lacksOf, portCases, type Operations } from './store-operations.js';
import {
  anotherHandle,
  besideReads,
  reopened,
  required,
  twoHandles,
  PARTS,
  type CompleteSubject,
  type PortRun,
  type StoreSubject,
} from './store-subject.js';

/** Adds the keys simultaneously. */
async function addKeys(apiKeys: ApiKeyRepository, records: readonly ApiKeyRecord[]): Promise<void> {
  const added = await Promise.all(records.map((record) => apiKeys.add(record)));
  assert.ok(!added.includes(false), 'a key with a new id was not added');
}

/** The milliseconds at which a store of seconds, of 32 bits or of four digits of a year goes wrong first. */
const TIMES = [
  0,
  1,
  999,
  1000,
  2 ** 31 * 1000,
  2 ** 32 * 1000 + 1,
  Date.UTC(9999, 11, 31, 23, 59, 59, 999),
];

const STORED: Readonly<Record<string, ApiKeyRecord>> = {
  'every field': fullApiKey(),
  'no optional field': sampleApiKey(),
  'an empty name': sampleApiKey({ name: '' }),
  'no scopes': sampleApiKey({ scopes: [] }),
  'scopes that no version knows': sampleApiKey({
    scopes: ['pets:groom', 'pets:read', ' a "b" , é'],
  }),
  ...Object.fromEntries(
    TIMES.map((time) => [
      `the time ${new Date(time).toISOString()}`,
      sampleApiKey({ createdAt: time, expiresAt: time, revokedAt: time }),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(TRICKY_NAMES).map(([what, name]) => [
      `a name with ${what}`,
      sampleApiKey({ name }),
    ]),
  ),
};

const ODD_IDS = [
  '',
  'k1 ',
  ' k1',
  'x'.repeat(1000),
  ...words('k K1 k10 % * __proto__ constructor'),
];

const EXACT = each(STORED, (what, apiKey) => [
  `stores a key exactly: ${what}`,
  async ({ apiKeys }: CompleteSubject) => {
    assert.equal(await apiKeys.add(apiKey), true);
    assert.deepEqual(await apiKeys.findById(apiKey.id), apiKey);
    assert.deepEqual(await apiKeys.list(), [apiKey]);
  },
]);

const STORING: Clauses<PortRun> = {
  async 'resolves to undefined for an id that no key has'({ apiKeys }) {
    for (const id of ODD_IDS) assert.equal(await apiKeys.findById(id), undefined, id);
    await apiKeys.add(sampleApiKey());
    for (const id of ODD_IDS) assert.equal(await apiKeys.findById(id), undefined, id);
  },
  async 'resolves to false for an id that is taken, and changes nothing'({ apiKeys }) {
    assert.equal(await apiKeys.add(sampleApiKey()), true);
    assert.equal(await apiKeys.add(sampleApiKey()), false);
    assert.equal(await apiKeys.add({ ...fullApiKey(), id: sampleApiKey().id }), false);
    assert.deepEqual(await apiKeys.list(), [sampleApiKey()]);
  },
  async 'gives an id to one of twenty simultaneous adds, and stores that one'({ apiKeys }) {
    const records = times(20, (number) => sampleApiKey({ name: `key ${number}` }));
    const added = await Promise.all(records.map((record) => apiKeys.add(record)));
    const winners = records.filter((_, index) => added[index]);
    assert.equal(winners.length, 1, `${winners.length} of twenty adds with one id succeeded`);
    assert.deepEqual(await apiKeys.list(), winners);
  },
  async 'shows a change to the next read, even one that found nothing or another key just before'({
    apiKeys,
  }) {
    assert.equal(await apiKeys.findById('k1'), undefined);
    assert.deepEqual(await apiKeys.list(), []);
    await apiKeys.add(sampleApiKey());
    assert.deepEqual(await apiKeys.findById('k1'), sampleApiKey());
    assert.deepEqual(await apiKeys.list(), [sampleApiKey()]);
    const revoked = await apiKeys.revoke('k1', 5);
    assert.deepEqual(await apiKeys.findById('k1'), revoked);
    assert.deepEqual(await apiKeys.list(), [revoked]);
  },
  async 'lists hundreds of keys in ascending order of creation, whatever the order of the adds'({
    apiKeys,
  }) {
    const records = times(300, (number) =>
      sampleApiKey({ id: `k${500 - number}`, createdAt: 999_999_999_900 + number }),
    );
    const shuffled = records.map((_, index) => records[(index * 7) % 300] ?? fullApiKey());
    await addKeys(apiKeys, shuffled);
    assert.deepEqual(await apiKeys.list(), records);
  },
  async 'lists keys that were created at the same time in the order of the code units of their ids'({
    apiKeys,
  }) {
    const ids = words('- 0 00 10 9 A AB B Z _ a aB ab b z 🦊 ～');
    const records = ids.map((id) => sampleApiKey({ id }));
    await addKeys(apiKeys, [...records.slice(7).toReversed(), ...records.slice(0, 7)]);
    assert.deepEqual(await apiKeys.list(), records);
  },
};

const REVOKING: Clauses<PortRun> = {
  ...each({ past: Date.UTC(1026, 0), future: Date.UTC(2999, 0) }, (when, at) => [
    `revokes a key at an instant in the ${when}, and changes nothing else`,
    async ({ apiKeys }: CompleteSubject) => {
      const { revokedAt: _, ...unrevoked } = fullApiKey();
      await addKeys(apiKeys, [sampleApiKey(), unrevoked]);
      assert.deepEqual(await apiKeys.revoke('full', at), { ...unrevoked, revokedAt: at });
      assert.deepEqual(await apiKeys.findById('full'), { ...unrevoked, revokedAt: at });
      assert.deepEqual(await apiKeys.findById('k1'), sampleApiKey());
    },
  ]),
  async 'keeps the earliest instant of several revocations, so that a retry changes nothing'({
    apiKeys,
  }) {
    await apiKeys.add(sampleApiKey());
    let earliest = Infinity;
    for (const at of [2000, 2000, 2001, 1999, 3000]) {
      earliest = Math.min(earliest, at);
      const expected = sampleApiKey({ revokedAt: earliest });
      assert.deepEqual(await apiKeys.revoke('k1', at), expected, `revoked at ${at}`);
      assert.deepEqual(await apiKeys.findById('k1'), expected);
    }
  },
  async 'resolves to undefined for a revocation of an id that no key has, and stores nothing'({
    apiKeys,
  }) {
    await apiKeys.add(sampleApiKey());
    for (const id of ODD_IDS) assert.equal(await apiKeys.revoke(id, 5), undefined, id);
    assert.deepEqual(await apiKeys.list(), [sampleApiKey()]);
  },
  async 'keeps the earliest instant of twenty simultaneous revocations, through two handles if shared'(
    subject,
  ) {
    const handles = (await twoHandles(subject)).map((handle) =>
      required(handle.apiKeys, 'the port apiKeys of a handle'),
    );
    await subject.apiKeys.add(sampleApiKey());
    const instants = times(10, (number) => 1000 + ((number * 7 + 3) % 10));
    await Promise.all(instants.flatMap((at) => handles.map((handle) => handle.revoke('k1', at))));
    for (const handle of handles) {
      const found = await handle.findById('k1');
      assert.equal(found?.revokedAt, 1000, 'the instant of the revocation');
    }
  },
};

export const API_KEY_OPERATIONS: Operations<keyof ApiKeyRepository> = {
  add: ({ apiKeys }, _id, call) => apiKeys.add(sampleApiKey({ id: 'k2' }), call),
  findById: ({ apiKeys }, _id, call) => apiKeys.findById('k1', call),
  list: ({ apiKeys }, _id, call) => apiKeys.list(call),
  revoke: ({ apiKeys }, _id, call) => apiKeys.revoke('k1', 5, call),
};

const DURABILITY: Clauses<PortRun> = {
  async 'has every key exactly as before after closing and opening again'(subject) {
    const { apiKeys } = subject;
    await addKeys(apiKeys, [sampleApiKey(), fullApiKey()]);
    const revoked = await apiKeys.revoke('k1', 5);
    const again = required((await reopened(subject)).apiKeys, 'the port apiKeys of the handle');
    assert.deepEqual(await again.findById('full'), fullApiKey());
    assert.deepEqual(await again.findById('k1'), revoked);
    assert.equal(await again.add(sampleApiKey()), false);
  },
};

const SHARING: Clauses<PortRun> = {
  async 'shows each key and its revocation at once to another handle that reads all the time'(
    subject,
  ) {
    const other = required(
      (await anotherHandle(subject)).apiKeys,
      'the port apiKeys of the other handle',
    );
    const isSeen = async (key: ApiKeyRecord): Promise<void> => {
      assert.deepEqual(await other.findById(key.id), key);
      const listed = (await other.list()).find(({ id }) => id === key.id);
      assert.deepEqual(listed, key);
    };
    await besideReads(
      () => other.list(),
      async (number) => {
        const key = sampleApiKey({ id: `k${number}` });
        assert.equal(await other.findById(key.id), undefined);
        await subject.apiKeys.add(key);
        await isSeen(key);
        for (const revokedAt of [7, 5]) {
          await subject.apiKeys.revoke(key.id, revokedAt);
          await isSeen({ ...key, revokedAt });
        }
        assert.equal(await other.add(key), false);
      },
    );
  },
};

const cases = portCases('apiKeys', API_KEY_OPERATIONS, [
  ...casesOf(EXACT),
  ...casesOf({ ...STORING, ...REVOKING }),
  ...casesOf(DURABILITY, PARTS.durable),
  ...casesOf(SHARING, PARTS.shared),
]);

/** Every store of API keys. */
export const apiKeyRepositoryContract: Contract<StoreSubject> = {
  port: 'ApiKeyRepository',
  lacks: lacksOf('apiKeys', API_KEY_OPERATIONS),
  cases,
};
