import { rejects } from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { assert, expect } from 'chai';
import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { generateApiKey } from '../../../src/adapters/api-keys/api-key-format.js';
import { ManagedApiKeys } from '../../../src/adapters/api-keys/managed-api-keys.js';
import type { Authenticator, Scope } from '../../../src/application/ports/authenticator.js';
import { InvalidParameterError, UnavailableError } from '../../../src/domain/errors.js';
import { BASE62_DIGITS, withChecksum } from './compose-key.js';
import { ObservedApiKeyRepository } from './observed-api-key-repository.js';
import { SettableClock } from './settable-clock.js';

const unknown = { ok: false, reason: 'unknown' };
const expired = { ok: false, reason: 'expired' };
const revoked = { ok: false, reason: 'revoked' };
const accepted = (keyId: string, ...scopes: Scope[]) => ({
  ok: true,
  principal: { keyId, scopes: new Set(scopes) },
});

/** How many digests `authenticate` compares for this credential. */
async function comparisonsBy(authenticator: Authenticator, credential: string): Promise<number> {
  const compare = mock.method(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  try {
    await authenticator.authenticate(credential);
    return compare.mock.callCount();
  } finally {
    compare.mock.restore();
    syncBuiltinESMExports();
  }
}

describe('ApiKeyAuthenticator', () => {
  let clock: SettableClock;
  let keys: ObservedApiKeyRepository;
  let managed: ManagedApiKeys;
  let authenticator: ApiKeyAuthenticator;
  let elapsed: number;

  beforeEach(() => {
    clock = new SettableClock();
    keys = new ObservedApiKeyRepository();
    managed = new ManagedApiKeys({ keys, clock });
    elapsed = 0;
    authenticator = new ApiKeyAuthenticator({
      staticKeys: ['static-one', '~'],
      keys,
      clock,
      monotonicNow: () => elapsed,
    });
  });

  describe('with static keys', () => {
    it('accepts each, of one character too, with every scope', async () => {
      for (const key of ['static-one', '~']) {
        const answer = await authenticator.authenticate(key);
        expect(answer.ok && answer.principal.keyId).to.match(/^static-[0-9a-f]{12}$/);
        expect(answer.ok && [...answer.principal.scopes]).to.deep.equal(['pets:read', 'pets:write']);
      }
    });

    it('needs no store: any other credential is unknown', async () => {
      const alone = new ApiKeyAuthenticator({ staticKeys: ['static-one'], clock });
      expect((await alone.authenticate('static-one')).ok).to.equal(true);
      for (const credential of ['static-on', 'static-one ', 'Static-one', '', generateApiKey('live').key]) {
        expect(await alone.authenticate(credential)).to.deep.equal(unknown);
      }
    });

    it('knows nobody when it is given no key and no store', async () => {
      expect(await new ApiKeyAuthenticator({}).authenticate('')).to.deep.equal(unknown);
    });

    it('prefers a static key to a managed key of the same text, without a look-up', async () => {
      const { key, record } = await managed.issue({ name: 'both' });
      await managed.revoke(record.id);
      const both = new ApiKeyAuthenticator({ staticKeys: [key], keys, clock });
      const answer = await both.authenticate(key);
      expect(answer.ok && answer.principal.keyId).to.match(/^static-/);
      expect(keys.lookUps).to.deep.equal([]);
    });

    it('refuses to start with a key that is none', () => {
      expect(() => new ApiKeyAuthenticator({ staticKeys: ['a b'] })).to.throw(InvalidParameterError);
    });
  });

  describe('with managed keys', () => {
    it('accepts an issued key under its id, with its scopes', async () => {
      const all = await managed.issue({ name: 'all' });
      expect(await authenticator.authenticate(all.key)).to.deep.equal(
        accepted(all.record.id, 'pets:read', 'pets:write'),
      );
      const reader = await managed.issue({ name: 'reader', scopes: ['pets:read'] });
      expect(await authenticator.authenticate(reader.key)).to.deep.equal(
        accepted(reader.record.id, 'pets:read'),
      );
    });

    it('refuses every change of one character, without a look-up', async () => {
      const { key } = await managed.issue({ name: 'test' });
      for (let position = 0; position < key.length; position += 1) {
        for (const character of [...BASE62_DIGITS, '_', '-', '=', ' ', '\n', '\0', 'é', '\ud800']) {
          if (character === key[position]) continue;
          const changed = key.slice(0, position) + character + key.slice(position + 1);
          expect(await authenticator.authenticate(changed), changed).to.deep.equal(unknown);
        }
      }
      expect(keys.lookUps).to.deep.equal([]);
    });

    it('refuses every truncation, at either end, without a look-up', async () => {
      const { key } = await managed.issue({ name: 'test' });
      for (let length = 0; length < key.length; length += 1) {
        expect(await authenticator.authenticate(key.slice(0, length))).to.deep.equal(unknown);
        expect(await authenticator.authenticate(key.slice(key.length - length))).to.deep.equal(unknown);
      }
      expect(keys.lookUps).to.deep.equal([]);
    });

    it('refuses every omission, doubling and swap of characters, without a look-up', async () => {
      const { key } = await managed.issue({ name: 'test' });
      for (let position = 0; position < key.length; position += 1) {
        const [head, character, tail] = [
          key.slice(0, position),
          key.charAt(position),
          key.slice(position + 1),
        ];
        const swapped = head + tail.charAt(0) + character + tail.slice(1);
        for (const changed of [head + tail, head + character + character + tail, swapped]) {
          if (changed === key) continue;
          expect(await authenticator.authenticate(changed), changed).to.deep.equal(unknown);
        }
      }
      expect(keys.lookUps).to.deep.equal([]);
    });

    it('refuses a wrong secret under a known id, though the checksum is right', async () => {
      const { record } = await managed.issue({ name: 'test' });
      const forged = withChecksum(`ast_live_${record.id}_${'0'.repeat(43)}`);
      expect(await authenticator.authenticate(forged)).to.deep.equal(unknown);
      expect(keys.lookUps).to.deep.equal([record.id]);
    });

    it('refuses the right secret under another environment', async () => {
      const { key } = await managed.issue({ name: 'test' });
      const [, , id, secret] = key.split('_');
      expect(await authenticator.authenticate(withChecksum(`ast_test_${id}_${secret}`))).to.deep.equal(
        unknown,
      );
    });

    it('tells neither expiry nor revocation to who does not have the whole key', async () => {
      const one = await managed.issue({ name: 'expires', expiresAt: clock.in(1) });
      const other = await managed.issue({ name: 'revoked' });
      await managed.revoke(other.record.id);
      clock.advance(1);
      expect(await authenticator.authenticate(one.key)).to.deep.equal(expired);
      expect(await authenticator.authenticate(other.key)).to.deep.equal(revoked);
      for (const { id } of [one.record, other.record]) {
        const forged = withChecksum(`ast_live_${id}_${'0'.repeat(43)}`);
        expect(await authenticator.authenticate(forged)).to.deep.equal(unknown);
      }
    });

    it('accepts nothing by a kept hash that is no SHA-256', async () => {
      for (const hash of ['', 'abc', '0'.repeat(63), 'z'.repeat(64), '0'.repeat(66)]) {
        const { id, key } = generateApiKey('live');
        await keys.add({ id, name: 'damaged', hash, scopes: ['pets:read'], createdAt: clock.now() });
        expect(await authenticator.authenticate(key), hash).to.deep.equal(unknown);
      }
    });

    it('answers any text, however long or ill-formed', async () => {
      for (const text of [
        '',
        '\0',
        '\ud800',
        '_'.repeat(100_000),
        `ast_${'_'.repeat(100_000)}`,
        '💥',
        '__proto__',
      ]) {
        expect(await authenticator.authenticate(text)).to.deep.equal(unknown);
      }
    });

    it('does not let a caller widen later answers through an earlier one', async () => {
      const reader = await managed.issue({ name: 'reader', scopes: ['pets:read'] });
      for (const key of [reader.key, 'static-one']) {
        const first = await authenticator.authenticate(key);
        const before = first.ok && [...first.principal.scopes];
        if (first.ok) {
          const { scopes } = first.principal;
          assert(scopes instanceof Set);
          scopes.clear();
          scopes.add('pets:write');
          Object.assign(first.principal, { keyId: 'someone else' });
        }
        const second = await authenticator.authenticate(key);
        expect(second.ok && [...second.principal.scopes]).to.deep.equal(before);
        expect(second.ok && second.principal.keyId).to.not.equal('someone else');
      }
    });
  });

  describe('on the edges of time', () => {
    it('accepts a key 1 ms before it expires and refuses it at that instant, remembered or not', async () => {
      const { key, record } = await managed.issue({ name: 'test', expiresAt: clock.in(1000) });
      clock.advance(999);
      expect((await authenticator.authenticate(key)).ok).to.equal(true);
      clock.advance(1);
      expect(await authenticator.authenticate(key)).to.deep.equal(expired);
      expect(keys.lookUps).to.deep.equal([record.id]);
      clock.advance(1);
      expect(await authenticator.authenticate(key)).to.deep.equal(expired);
    });

    it('refuses a key that was revoked by a clock ahead of its own', async () => {
      const { key, record } = await managed.issue({ name: 'test' });
      const revokedAt = clock.in(1000);
      await keys.update(record.id, (old) => ({ ...old, revokedAt }));
      expect(await authenticator.authenticate(key)).to.deep.equal(revoked);
    });

    it('judges by the time at which the store answered', async () => {
      const { key } = await managed.issue({ name: 'test', expiresAt: clock.in(1000) });
      keys.hold();
      const answer = authenticator.authenticate(key);
      clock.advance(1000);
      keys.release();
      expect(await answer).to.deep.equal(expired);
    });

    it('learns of a revocation within 1 s on every instance that shares the store', async () => {
      const { key, record } = await managed.issue({ name: 'test' });
      const others = [0, 1].map(() => new ApiKeyAuthenticator({ keys, clock, monotonicNow: () => elapsed }));
      for (const instance of others) expect((await instance.authenticate(key)).ok).to.equal(true);
      await managed.revoke(record.id);
      elapsed += 500;
      for (const instance of others) expect(await instance.authenticate(key)).to.deep.equal(revoked);
    });

    it('asks the store once for a burst of calls with one key', async () => {
      const { key, record } = await managed.issue({ name: 'test' });
      await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(key)));
      expect(keys.lookUps).to.deep.equal([record.id]);
    });

    it('goes by the clocks of the machine when given none', async () => {
      const plain = new ApiKeyAuthenticator({ keys });
      clock.advance(-60_000);
      const over = await managed.issue({ name: 'over', expiresAt: clock.in(1) });
      const lasting = await managed.issue({ name: 'lasting' });
      expect(await plain.authenticate(over.key)).to.deep.equal(expired);
      keys.lookUps.length = 0;
      const answers = await Promise.all([plain.authenticate(lasting.key), plain.authenticate(lasting.key)]);
      expect(answers.map(({ ok }) => ok)).to.deep.equal([true, true]);
      expect(keys.lookUps).to.have.length(1);
    });
  });

  describe('when it cannot tell', () => {
    it('rejects with the error of the store, and accepts nobody', async () => {
      const { key } = await managed.issue({ name: 'test' });
      await keys.close();
      await rejects(authenticator.authenticate(key), UnavailableError);
    });

    it('passes on an error that nobody expected', async () => {
      const fault = new TypeError('a fault of the program');
      keys.findById = () => Promise.reject(fault);
      await rejects(authenticator.authenticate(generateApiKey('live').key), fault);
    });

    it('still accepts static keys', async () => {
      await keys.close();
      expect((await authenticator.authenticate('static-one')).ok).to.equal(true);
    });

    it('rejects with the reason of an aborted signal, before and during the look-up', async () => {
      const { key } = await managed.issue({ name: 'test' });
      const reason = new Error('gone');
      const signal = AbortSignal.abort(reason);
      await rejects(authenticator.authenticate(key, { signal }), reason);
      await rejects(authenticator.authenticate('static-one', { signal }), reason);
      expect(keys.lookUps).to.deep.equal([]);

      keys.hold();
      const leaving = new AbortController();
      const call = authenticator.authenticate(key, { signal: leaving.signal });
      leaving.abort(reason);
      await rejects(call, reason);
      keys.release();
    });
  });

  describe('comparing in constant time', () => {
    it('compares with every static key, whichever matches', async () => {
      expect(await comparisonsBy(authenticator, 'static-one')).to.equal(2);
      expect(await comparisonsBy(authenticator, '~')).to.equal(2);
      expect(await comparisonsBy(authenticator, 'neither')).to.equal(2);
    });

    it('compares as much for an unknown id as for a known one', async () => {
      const { key, record } = await managed.issue({ name: 'test' });
      const wrongSecret = withChecksum(`ast_live_${record.id}_${'0'.repeat(43)}`);
      expect(await comparisonsBy(authenticator, generateApiKey('live').key)).to.equal(3);
      expect(await comparisonsBy(authenticator, wrongSecret)).to.equal(3);
      expect(await comparisonsBy(authenticator, key)).to.equal(3);
    });
  });
});
