import { rejects } from 'node:assert/strict';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { apiKeyGenerator } from '../../src/adapters/api-keys/api-key.js';
import { ApiKeyAuthenticator } from '../../src/adapters/api-keys/api-key-authenticator.js';
import { ManagedApiKeys, apiKeyState } from '../../src/application/manage-api-keys.js';
import { openMemoryStore } from '../../src/adapters/memory/open-memory-store.js';
import type { ApiKeyRepository } from '../../src/application/ports/api-key-repository.js';
import { SCOPES, type Scope } from '../../src/application/ports/authenticator.js';
import { InvalidParameterError, UnavailableError } from '../../src/domain/errors.js';
import { SettableClock } from '../adapters/api-keys/fixtures.js';
import { rejectionOf } from '../contract/rejection.js';
import { times } from '../contract/samples.js';

const DAY = 24 * 60 * 60 * 1000;
const STATIC = 'planted-static-key-0123456789';
const generate = apiKeyGenerator();

describe('ManagedApiKeys', () => {
  let clock: SettableClock;
  let apiKeys: ApiKeyRepository;
  let managed: ManagedApiKeys;

  beforeEach(() => {
    clock = new SettableClock();
    ({ apiKeys } = openMemoryStore());
    managed = new ManagedApiKeys({ apiKeys, generate, clock });
  });

  /** Whether the key is good now, by an authenticator that has cached nothing. */
  async function resultOf(key: string): Promise<string> {
    const answer = await new ApiKeyAuthenticator({ apiKeys, clock }).authenticate(key);
    return answer.ok ? 'accepted' : answer.reason;
  }

  /** When the key is revoked, after a revocation with these options. */
  async function revoke(id: string, options?: { after: number }): Promise<Date | undefined> {
    const revoked = await managed.revoke(id, options);
    return revoked?.revokedAt;
  }

  describe('issue', () => {
    it('makes a key for ever, with the scopes given, when nothing else is asked for', async () => {
      const { key, record } = await managed.issue({ name: 'shop', scopes: SCOPES });

      expect(key).to.match(new RegExp(`^ast_live_${record.id}_`));
      expect(record).to.deep.equal({
        id: record.id,
        name: 'shop',
        scopes: ['pets:read', 'pets:write', 'pets:delete'],
        createdAt: clock.now(),
        state: 'active',
      });

      clock.advance(100_000 * DAY);

      expect(await resultOf(key)).to.equal('accepted');
    });

    it('lists scopes once and in their own order, however they were given', async () => {
      const scopes: Scope[] = ['pets:write', 'pets:read', 'pets:write'];
      const { record } = await managed.issue({ name: 'shop', scopes });

      expect(record.scopes).to.deep.equal(['pets:read', 'pets:write']);
    });

    it('takes names in any script, up to 100 characters', async () => {
      for (const name of ['x', 'x'.repeat(100), 'Лавка', '店', '👩‍👩‍👧 shop', '  padded  ']) {
        const { record } = await managed.issue({ name, scopes: SCOPES });
        expect(record.name).to.equal(name);
      }
    });

    it('refuses blank and long names, and those with controls or lone surrogates, and stores nothing', async () => {
      const odd = ['\n', '\u001b[2J', '\0', '\u009b', '\u2028', '\u202e', '\ud800'];

      for (const name of ['', ' \u2003', 'x'.repeat(101), ...odd.map((text) => `a${text}b`)]) {
        await rejects(
          managed.issue({ name, scopes: SCOPES }),
          /name must be 1 to 100 characters/,
          JSON.stringify(name),
        );
      }
      expect(await apiKeys.list()).to.deep.equal([]);
    });

    it('names every fault at once, callers without a compiler included', async () => {
      const untyped: { issue(request: object): Promise<unknown> } = managed;
      for (const request of [
        { name: 7, scopes: ['pets:eat'], expiresAt: clock.now() },
        { name: 7, scopes: [], expiresAt: new Date(Number.NaN) },
      ]) {
        const error = await rejectionOf(untyped.issue(request));
        expect(error).to.be.instanceOf(InvalidParameterError);
        const fields = (error as InvalidParameterError).faults.map(({ field }) => field);
        expect(fields).to.deep.equal(['name', 'scopes', 'expiresAt']);
      }
    });

    it('issues no key without scopes, as when a program without a compiler misspells them', async () => {
      const untyped: { issue(request: object): Promise<unknown> } = managed;
      for (const request of [{ name: 'shop' }, { name: 'shop', scope: ['pets:read'] }]) {
        const error = await rejectionOf(untyped.issue(request));
        expect(error).to.be.instanceOf(InvalidParameterError);
        expect(String(error)).to.include('scopes must be one or more of pets:read,');
      }
      expect(await apiKeys.list()).to.deep.equal([]);
    });

    it('issues no key for ever when an expiry is given that is no Date', async () => {
      const untyped: { issue(request: object): Promise<unknown> } = managed;
      const tomorrow = clock.in(DAY).getTime();
      for (const expiresAt of [null, '', 0, Number.NaN, tomorrow, new Date(tomorrow).toISOString()])
        await rejects(
          untyped.issue({ name: 'shop', scopes: SCOPES, expiresAt }),
          /expiresAt must be a Date in the future/,
          `with the expiry ${inspect(expiresAt)}`,
        );
      expect(await apiKeys.list()).to.deep.equal([]);
    });

    it('gives up when its random id is taken', async () => {
      const taken = generate();
      const fixed = new ManagedApiKeys({ apiKeys, generate: () => taken });
      await fixed.issue({ name: 'shop', scopes: SCOPES });

      await rejects(fixed.issue({ name: 'shop', scopes: SCOPES }), UnavailableError);
    });
  });

  describe('list', () => {
    it('shows every key, the oldest first, with its state and without its hash', async () => {
      const first = await managed.issue({ name: 'first', scopes: SCOPES, expiresAt: clock.in(2) });
      clock.advance(1);
      const second = await managed.issue({ name: 'second', scopes: SCOPES });
      await managed.revoke(second.record.id);
      clock.advance(1);
      const third = await managed.issue({ name: 'third', scopes: SCOPES });
      const list = await managed.list();

      expect(list.map(({ id, name, state }) => [id, name, state])).to.deep.equal([
        [first.record.id, 'first', 'expired'],
        [second.record.id, 'second', 'revoked'],
        [third.record.id, 'third', 'active'],
      ]);
      for (const key of list) expect(key).to.not.have.property('hash');
    });
  });

  describe('revoke', () => {
    it('ends the key at once, also on a machine whose clock is behind', async () => {
      const { key, record } = await managed.issue({ name: 'shop', scopes: SCOPES });

      expect(await resultOf(key)).to.equal('accepted');
      expect(await managed.revoke(record.id)).to.have.property('state', 'revoked');
      for (const days of [-26, -100_000]) {
        clock.advance(days * DAY);
        expect(await resultOf(key), `a clock that is ${-days} days behind`).to.equal('revoked');
      }
    });

    it('keeps and shows the time of the first revocation, whatever revocations follow', async () => {
      const { record } = await managed.issue({ name: 'shop', scopes: SCOPES });
      const other = await managed.issue({ name: 'other', scopes: SCOPES });
      await managed.revoke(other.record.id, { after: 1000 });
      const first = clock.now();

      expect(await revoke(record.id)).to.deep.equal(first);

      const ended = clock.in(1000);
      clock.advance(DAY);
      for (const { id } of [record, other.record]) {
        await managed.revoke(id);
        await managed.revoke(id, { after: 1000 });
      }
      const shown = (await managed.list()).map(({ revokedAt }) => revokedAt);

      expect(shown).to.have.deep.members([first, ended]);
    });

    it('shows a key that is revoked at once before its later end as revoked now', async () => {
      const { record } = await managed.issue({ name: 'shop', scopes: SCOPES });
      await managed.revoke(record.id, { after: DAY });

      expect(await revoke(record.id)).to.deep.equal(clock.now());
    });

    it('can revoke a key later, and then at the earliest of several instants', async () => {
      const { key, record } = await managed.issue({ name: 'shop', scopes: SCOPES });
      const revoked = await managed.revoke(record.id, { after: 1000 });

      expect(revoked).to.deep.include({ revokedAt: clock.in(1000), state: 'active' });
      expect(await revoke(record.id, { after: DAY })).to.deep.equal(clock.in(1000));

      clock.advance(1000);

      expect(await resultOf(key)).to.equal('revoked');
    });

    it('resolves to undefined if no key has the id', async () => {
      expect(await managed.revoke('nothing0')).to.equal(undefined);
    });
  });

  it('issues, lists and revokes with the options of each call', async () => {
    const { record } = await managed.issue({ name: 'shop', scopes: SCOPES });
    const call = { signal: AbortSignal.abort(new Error('aborted')) };
    const deaf = { ...apiKeys, findById: (id: string) => apiKeys.findById(id) };

    for (const calling of [
      managed.issue({ name: 'shop', scopes: SCOPES }, call),
      managed.issueFirst('shop', call),
      managed.list(call),
      managed.revoke(record.id, call),
      new ManagedApiKeys({ apiKeys: deaf, generate, clock }).revoke(record.id, call),
    ])
      await rejects(calling, call.signal.reason as Error);
    const [listed] = await managed.list();
    expect(listed).to.deep.equal(record);
  });

  it('revokes after a whole number of milliseconds only, else changes nothing', async () => {
    const { key, record } = await managed.issue({ name: 'shop', scopes: SCOPES });

    for (const after of [-1, 0.5, Number.NaN, Infinity, 1e300])
      await rejects(managed.revoke(record.id, { after }), InvalidParameterError);
    expect(await resultOf(key)).to.equal('accepted');
  });

  it('issues one first key, however many processes start at once, and none in place of a revoked one', async () => {
    const starting = times(3, () => managed.issueFirst('first start'));
    const issued = await Promise.all(starting);
    const [first, ...others] = issued.filter((each) => each !== undefined);

    expect(others).to.deep.equal([]);
    expect(await resultOf(first?.key ?? '')).to.equal('accepted');

    await managed.revoke(first?.record.id ?? '');

    expect(await managed.issueFirst('second start')).to.equal(undefined);
  });

  it('a key is expired from its expiry on, revoked from its revocation on, and rather revoked than expired', () => {
    const before = 999;
    const now = 1000;
    const after = 1001;
    const state = (key: { expiresAt?: number; revokedAt?: number }): string =>
      apiKeyState({ id: 'x', name: 'test', hash: '', scopes: [], createdAt: before, ...key }, now);

    expect(state({})).to.equal('active');
    expect(state({ expiresAt: after, revokedAt: after })).to.equal('active');
    expect(state({ expiresAt: now })).to.equal('expired');
    expect(state({ revokedAt: now })).to.equal('revoked');
    expect(state({ expiresAt: before, revokedAt: before })).to.equal('revoked');
    expect(state({ expiresAt: Number.NaN })).to.equal('expired');
    expect(state({ revokedAt: Number.NaN })).to.equal('revoked');
  });

  it('puts no key into a record, a list, an error or an object that lives on', async () => {
    const { key, record } = await managed.issue({ name: 'shop', scopes: SCOPES });
    const authenticator = new ApiKeyAuthenticator({ staticKeys: [STATIC], apiKeys, clock });
    const untyped: { issue(request: object): Promise<unknown> } = managed;
    const errors = await Promise.allSettled([
      managed.revoke(key),
      untyped.issue({ name: `${key}\n`, scopes: [key] }),
    ]);
    const visible = inspect(
      [
        record,
        await apiKeys.list(),
        await managed.list(),
        await authenticator.authenticate(key),
        await authenticator.authenticate(STATIC),
        authenticator,
        managed,
        errors,
      ],
      { depth: Infinity, showHidden: true, getters: true },
    );

    expect(visible).to.include(record.id);
    for (const text of [key, key.split('_')[3], STATIC]) expect(visible).to.not.include(text);
  });
});
