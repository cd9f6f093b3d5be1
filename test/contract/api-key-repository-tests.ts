import type {
  ApiKeyRecord,
  ApiKeyRepository,
} from '../../src/application/ports/api-key-repository.js';
import assert from 'node:assert/strict';
import { TRICKY_NAMES, FULL_API_KEY, sampleApiKey, times, words } from './samples.js';
import { checkAborts } from './store-operations.js';
import { storeCases, type StoreSubject } from './store-cases.js';
import type { PortSuite } from './store-suite.js';

/** Times at which a store of seconds, of 32 bits or of four-digit years first goes wrong. */
const TIMES = [
  0,
  1,
  999,
  2 ** 31 * 1000,
  2 ** 32 * 1000 + 1,
  Date.UTC(9999, 11, 31, 23, 59, 59, 999),
];

/** Hundreds of keys, with every value that a store may change, in ascending order of creation. */
const TRICKY_KEYS: readonly ApiKeyRecord[] = [
  ...TIMES.map((time) => ({ createdAt: time, expiresAt: time, revokedAt: time })),
  FULL_API_KEY,
  ...[...TRICKY_NAMES, ''].map((name) => ({ name })),
  { scopes: [] },
  ...times(200, () => ({})),
  { scopes: ['pets:groom', 'pets:read', ' a "b" , é'] },
]
  .map((fields, index) =>
    sampleApiKey({ id: `k${index}`, createdAt: 1_760_000_000_000 + index, ...fields }),
  )
  .sort((one, other) => one.createdAt - other.createdAt);

const ODD_IDS = [
  '',
  'k1 ',
  ' k1',
  'x'.repeat(1000),
  ...words('k K1 k10 % * __proto__ constructor'),
];

/** A record, or records, without undefined members: an adapter may return or omit them. */
const defined = <Found>(found: Found): Found => found && JSON.parse(JSON.stringify(found));

/** The clauses of `ApiKeyRepository`. `open` resolves to a store, to `{ apiKeys }` or to the repository itself. */
export function apiKeyRepositoryTests(suite: PortSuite<ApiKeyRepository>): void {
  const test = storeCases(suite, 'apiKeys')('apiKeys');

  suite.describe('ApiKeyRepository', () => {
    test('keeps every value exactly, in ascending order of creation, also after reopening', async (subject) => {
      const adding = TRICKY_KEYS.toReversed().map((apiKey) => subject.apiKeys.add(apiKey));
      assert.ok(!(await Promise.all(adding)).includes(false), 'a new key was not added');
      const check = async ({ apiKeys }: Pick<StoreSubject, 'apiKeys'>): Promise<void> => {
        assert.deepEqual(defined(await apiKeys.list()), TRICKY_KEYS);
        for (const apiKey of TRICKY_KEYS)
          assert.deepEqual(defined(await apiKeys.findById(apiKey.id)), apiKey);
      };
      await check(subject);
      await check(await subject.reopen());
    });

    test('adds one of several keys with one id, and resolves to false for the others', async (subject) => {
      const { apiKeys: other } = await subject.another();
      const records = times(20, (number) => sampleApiKey({ name: `key ${number}` }));
      const adding = records.map((record, index) =>
        (index % 2 === 0 ? subject.apiKeys : other).add(record),
      );
      const added = await Promise.all(adding);

      const winners = records.filter((_, index) => added[index]);
      assert.equal(winners.length, 1, 'adds with one id that succeeded');
      assert.equal(await subject.apiKeys.add({ ...FULL_API_KEY, id: 'k1' }), false);
      assert.deepEqual(defined(await subject.apiKeys.list()), winners);
    });

    test('shows a new or revoked key to the next read of every handle, by its exact id only', async (subject) => {
      const handles = [subject.apiKeys, (await subject.another()).apiKeys];
      const check = async (...stored: ApiKeyRecord[]): Promise<void> => {
        for (const handle of handles) {
          for (const id of ODD_IDS) assert.equal(await handle.findById(id), undefined, id);
          assert.deepEqual(defined(await handle.findById('k1')), stored[0]);
          assert.deepEqual(defined(await handle.list()), stored);
        }
      };
      await check();
      await subject.apiKeys.add(sampleApiKey());
      await check(sampleApiKey());
      await subject.apiKeys.revoke('k1', 5);
      for (const id of ODD_IDS) assert.equal(await subject.apiKeys.revoke(id, 4), undefined, id);
      await check(sampleApiKey({ revokedAt: 5 }));
    });

    test('keeps the instant of the first revocation, and changes nothing else', async (subject) => {
      const { apiKeys: other } = await subject.another();
      const { revokedAt: _, ...unrevoked } = FULL_API_KEY;
      for (const record of [sampleApiKey(), unrevoked]) await subject.apiKeys.add(record);
      const instants = times(20, (number) => 1000 + ((number * 7 + 3) % 20));

      const revoking = instants.map((at) =>
        (at % 2 === 0 ? subject.apiKeys : other).revoke('full', at),
      );
      await Promise.all(revoking);

      const revokedAt = (await other.findById('full'))?.revokedAt;
      assert.ok(revokedAt !== undefined && instants.includes(revokedAt));
      const revoked = { ...unrevoked, revokedAt };
      for (const handle of [subject.apiKeys, other]) {
        assert.deepEqual(defined(await handle.findById('full')), revoked);
        assert.deepEqual(defined(await handle.revoke('full', 2)), revoked, 'a later revocation');
      }
      assert.deepEqual(defined(await subject.apiKeys.findById('k1')), sampleApiKey());
    });

    test('rejects aborted calls with the reason, changes nothing, and leaves no listener', (subject) =>
      checkAborts(subject, 'apiKeys'));
  });
}
