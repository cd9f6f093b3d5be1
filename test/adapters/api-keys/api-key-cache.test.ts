import { mock } from 'node:test';
import { expect } from 'chai';
import { hashApiKey } from '../../../src/adapters/api-keys/api-key.js';
import { cachedFindKey } from '../../../src/adapters/api-keys/api-key-cache.js';
import type {
  ApiKeyRecord,
  ApiKeyRepository,
} from '../../../src/application/ports/api-key-repository.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { rejectionOf } from '../../contract/rejection.js';
import { observedApiKeys, type ObservedApiKeys } from './fixtures.js';

const record = (id: string) =>
  ({
    id,
    name: 'test',
    hash: hashApiKey(id),
    scopes: ['pets:read'],
    createdAt: 0,
  }) as const;

/** Finds the keys of `record`, whose text is their id. */
const finder = (apiKeys: Pick<ApiKeyRepository, 'findById'>) => {
  const find = cachedFindKey(apiKeys);
  return (id: string, key = id): Promise<ApiKeyRecord | undefined> => find(id, hashApiKey(key));
};

describe('cachedFindKey', () => {
  let apiKeys: ObservedApiKeys;
  let find: ReturnType<typeof finder>;
  let elapsed: number;

  beforeEach(async () => {
    apiKeys = observedApiKeys();
    await apiKeys.add(record('one'));
    elapsed = 1000;
    mock.method(performance, 'now', () => elapsed);
    find = finder(apiKeys);
  });
  afterEach(() => mock.restoreAll());

  it('looks a key up once within 500 ms, and again at 500 ms', async () => {
    await find('one');
    elapsed += 499;

    expect(await find('one')).to.deep.include({ id: 'one' });
    expect(apiKeys.lookUps, 'after 499 ms').to.have.length(1);

    elapsed += 1;
    await find('one');

    expect(apiKeys.lookUps, 'after 500 ms').to.have.length(2);
  });

  it('counts the age of a result from the start of its look-up', async () => {
    apiKeys.hold();
    const slow = find('one');
    await apiKeys.revoke('one', 0);
    elapsed += 500;
    // A call that comes now must not get what was true 500 ms ago.
    const late = find('one');
    apiKeys.release();

    expect(await slow).to.not.have.property('revokedAt');
    expect(await late).to.have.property('revokedAt');
    expect(await find('one')).to.have.property('revokedAt');
    expect(apiKeys.lookUps).to.have.length(2);
  });

  it('costs a guess one look-up, whether the id is known, in use, guessed before or unknown', async () => {
    await find('one');

    for (const id of ['one', 'two', 'one', 'two']) {
      apiKeys.lookUps.length = 0;
      expect(await find(id, 'guess'), id).to.equal(undefined);
      expect(apiKeys.lookUps, `look-ups for a guess of ${id}`).to.deep.equal([id]);
    }

    apiKeys.lookUps.length = 0;
    elapsed += 500;
    apiKeys.hold();
    const owner = find('one');
    const guess = find('one', 'guess');
    apiKeys.release();

    expect(await owner).to.deep.include({ id: 'one' });
    expect(await guess).to.equal(undefined);
    expect(apiKeys.lookUps).to.deep.equal(['one', 'one']);
  });

  it('does not cache failures', async () => {
    const failure = new UnavailableError('reading a key');
    const answers = [Promise.reject(failure), apiKeys.findById('one')];
    find = finder({ findById: async () => answers.shift() });
    const calls = [find('one'), find('one')];

    for (const call of calls) expect(await rejectionOf(call)).to.equal(failure);
    expect(await find('one')).to.deep.include({ id: 'one' });
  });

  it('caches 1,000 keys, and forgets all of them for one more', async () => {
    const ids = Array.from({ length: 1001 }, (_, number) => `key-${number}`);
    const [first = '', second = '', ...others] = ids;
    for (const id of ids) await apiKeys.add(record(id));
    for (const id of [second, ...others, second, ...others]) await find(id);

    expect(apiKeys.lookUps).to.have.length(1000);

    for (const id of [first, second, first, second]) await find(id);

    expect(apiKeys.lookUps.slice(1000)).to.deep.equal([first, second]);
  });

  it('keeps a newer look-up when an older one fails or finds nothing', async () => {
    for (const outcome of [Promise.resolve(undefined), Promise.reject(new Error('lost'))]) {
      outcome.catch(() => {});
      const late = Promise.withResolvers<undefined>();
      const answers = [late.promise, apiKeys.findById('one')];
      find = finder({ findById: async () => answers.shift() });
      const older = find('one');
      elapsed += 500;
      await find('one');
      late.resolve(outcome);
      await older.catch(() => {});
      expect(await find('one'), 'the newer look-up').to.deep.include({ id: 'one' });
      expect(answers, 'look-ups that are left').to.deep.equal([]);
    }
  });
});
