import { inspect } from 'node:util';
import { expect } from 'chai';
import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { generateApiKey } from '../../../src/adapters/api-keys/api-key-format.js';
import { ManagedApiKeys } from '../../../src/adapters/api-keys/managed-api-keys.js';
import { StaticApiKeys } from '../../../src/adapters/api-keys/static-api-keys.js';
import { MemoryApiKeyRepository } from '../../../src/adapters/memory/memory-api-key-repository.js';

/** All that a log, a debugger's printer or an error report could show of a value. */
const everythingOf = (value: unknown): string =>
  [
    inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    JSON.stringify(value),
    String(value),
    value instanceof Error ? value.stack : '',
  ].join('\n');

const errorOf = async (act: () => unknown): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

/** The key, and what of it is secret. */
const parts = (key: string): string[] => {
  const [, , , secret = '', crc = ''] = key.split('_');
  return [key, secret, crc];
};

describe('A key', () => {
  const STATIC = 'planted-static-key-0123456789';
  const FAULTY = 'planted faulty key';
  let keys: MemoryApiKeyRepository;
  let managed: ManagedApiKeys;

  beforeEach(() => {
    keys = new MemoryApiKeyRepository();
    managed = new ManagedApiKeys({ keys });
  });

  it('stands in no record, no list and no answer', async () => {
    const { key, record } = await managed.issue({ name: 'shop' });
    const rotated = await managed.rotate(record.id, { overlap: 1000 });
    const authenticator = new ApiKeyAuthenticator({ staticKeys: [STATIC], keys });
    const shown = everythingOf([
      record,
      rotated.record,
      rotated.replaced,
      await keys.list(),
      await managed.list(),
      await authenticator.authenticate(key),
      await authenticator.authenticate(STATIC),
      await managed.revoke(record.id),
      await authenticator.authenticate(key),
    ]);
    expect(shown).to.include(record.id);
    for (const text of [...parts(key), ...parts(rotated.key), STATIC]) expect(shown).to.not.include(text);
  });

  it('stands in no object that lives on', async () => {
    const { key } = await managed.issue({ name: 'shop' });
    const authenticator = new ApiKeyAuthenticator({ staticKeys: [STATIC], keys });
    await authenticator.authenticate(key);
    const shown = everythingOf([authenticator, managed, new StaticApiKeys([STATIC])]);
    for (const text of [...parts(key), STATIC]) expect(shown).to.not.include(text);
  });

  it('stands in no error, even when it was given in the place of something else', async () => {
    const { key } = generateApiKey('live');
    const authenticator = new ApiKeyAuthenticator({ keys });
    /** As callers without a compiler see it. */
    const untyped: { issue(request: object): unknown } = managed;
    const errors = [
      await errorOf(() => new ApiKeyAuthenticator({ staticKeys: [FAULTY, STATIC] })),
      await errorOf(() => new ManagedApiKeys({ keys, environment: key })),
      await errorOf(() => generateApiKey(key)),
      await errorOf(() => managed.revoke(key)),
      await errorOf(() => managed.rotate(key, { overlap: 0 })),
      await errorOf(() => untyped.issue({ name: `${key}\n`, scopes: [key] })),
      await errorOf(async () => {
        await keys.close();
        await authenticator.authenticate(key);
      }),
    ];
    const shown = errors.map(everythingOf).join('\n');
    for (const text of [...parts(key), STATIC, FAULTY]) expect(shown).to.not.include(text);
  });
});
