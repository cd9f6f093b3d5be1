import { rejects, throws } from 'node:assert/strict';
import { mock } from 'node:test';
import { expect } from 'chai';
import {
  ApiKeyAuthenticator,
  ManagedApiKeys,
  generateApiKey,
} from '../../../src/adapters/api-keys/index.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { SCOPES, UnavailableError, type ApiKeyRepository } from '../../../src/index.js';
import { authenticatorTests } from '../../contract/index.js';
import { SettableClock } from '../../settable-clock.js';
import { openAuthenticator } from './open-authenticator.js';

type FindById = ApiKeyRepository['findById'];

const away: FindById = () => Promise.reject(new UnavailableError('reading'));

describe('ApiKeyAuthenticator', () => {
  authenticatorTests({ describe, it, open: openAuthenticator });

  let clock: SettableClock;
  let apiKeys: ApiKeyRepository;
  let managed: ManagedApiKeys;
  let lookUps: string[];

  beforeEach(() => {
    clock = new SettableClock();
    ({ apiKeys } = openMemoryStore());
    managed = new ManagedApiKeys({ apiKeys, generate: generateApiKey, clock });
    lookUps = [];
  });
  afterEach(() => mock.restoreAll());

  const stored: FindById = (...given) => apiKeys.findById(...given);

  const authenticator = (findById = stored, staticKeys: readonly string[] = []) =>
    new ApiKeyAuthenticator({
      staticKeys,
      clock,
      apiKeys: {
        findById(...given) {
          lookUps.push(given[0]);
          return findById(...given);
        },
      },
    });

  const issue = (expiresAt?: Date) => managed.issue({ name: 'a', scopes: SCOPES, expiresAt });

  it('accepts static keys without the store, whatever its state', async () => {
    const keys = authenticator(away, ['planted-static-key', 'x']);

    const result = await keys.authenticate('planted-static-key');

    expect(result).to.deep.include({ ok: true });
    expect(result.ok && result.principal.keyId).to.match(/^static-[0-9a-f]{12}$/);
    await rejects(keys.authenticate((await issue()).key), { code: 'service_unavailable' });
  });

  it('names every static key that is no bearer token, by position and never by text', () => {
    throws(
      () => authenticator(undefined, ['good', 'b d', 'ké']),
      ({ message }: Error) =>
        /static key 2 .+ static key 3/.test(message) && !/b d|ké/.test(message),
    );
  });

  it('reveals expiry and revocation only to a caller with the whole key', async () => {
    const at = clock.in(1);
    const late = await issue(at);
    const ended = await issue();
    const keys = authenticator();
    expect(await keys.authenticate(late.key)).to.deep.include({ ok: true });
    await managed.revoke(ended.details.id);
    clock.advance(1);

    const expired = { ok: false, reason: 'expired', keyId: late.details.id, at };
    expect(await keys.authenticate(late.key)).to.deep.equal(expired);
    const revoked = { ok: false, reason: 'revoked', keyId: ended.details.id };
    expect(await keys.authenticate(ended.key)).to.deep.equal(revoked);
    for (const { details } of [late, ended]) {
      const guess = generateApiKey(details.id).key;
      expect(await keys.authenticate(guess)).to.deep.equal({ ok: false, reason: 'unknown' });
    }
  });

  it('does not look up malformed keys or wrong checksums', async () => {
    const { key } = await issue();
    const wrong = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const keys = authenticator();

    for (const text of ['', 'x', wrong, ` ${key}`, `${key}\n`, key.toUpperCase(), key.slice(0, -1)])
      expect(await keys.authenticate(text), text).to.deep.equal({ ok: false, reason: 'unknown' });
    expect(lookUps).to.deep.equal([]);
  });

  it('grants only the scopes that it knows, in a set of the caller alone', async () => {
    const { id, key, hash } = generateApiKey();
    await apiKeys.add({ id, name: 'a', hash, scopes: ['pets:read', 'later'], createdAt: 0 });
    const keys = authenticator();
    const first = await keys.authenticate(key);
    if (first.ok) (first.principal.scopes as Set<string>).add('pets:delete');

    const principal = { keyId: id, scopes: new Set(['pets:read']) };
    expect(await keys.authenticate(key)).to.deep.equal({ ok: true, principal });
  });

  it('reads a key once for simultaneous calls and for half a second, then anew', async () => {
    const { key, details } = await issue();
    const keys = authenticator();
    let now = 0;
    mock.method(performance, 'now', () => now);

    await Promise.all([keys.authenticate(key), keys.authenticate(key)]);
    now = 499;
    await keys.authenticate(key);
    expect(lookUps).to.have.lengthOf(1);
    await managed.revoke(details.id);
    now = 500;

    expect(await keys.authenticate(key)).to.include({ reason: 'revoked' });
  });

  it('caches no failure', async () => {
    const { key } = await issue();
    let isAway = true;
    const keys = authenticator(async (...given) => {
      if (isAway) throw new UnavailableError('reading');
      return apiKeys.findById(...given);
    });

    await rejects(keys.authenticate(key), { code: 'service_unavailable' });
    isAway = false;
    expect(await keys.authenticate(key)).to.include({ ok: true });
  });

  it('rejects an aborted call while the store hangs, and lets the others that share its look-up go on', async () => {
    const { key } = await issue();
    const store = Promise.withResolvers<void>();
    const keys = authenticator(async (...given) => {
      await store.promise;
      return apiKeys.findById(...given);
    });
    const stop = new AbortController();
    const aborted = keys.authenticate(key, { signal: stop.signal });
    const other = keys.authenticate(key);

    stop.abort(new Error('given up'));

    await rejects(aborted, /given up/);
    store.resolve();
    expect(await other).to.include({ ok: true });
  });
});
