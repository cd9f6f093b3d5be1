import crypto from 'node:crypto';
import { getEventListeners } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { expect } from 'chai';
import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { apiKeyGenerator, staticKeyId } from '../../../src/adapters/api-keys/api-key.js';
import { ManagedApiKeys } from '../../../src/application/manage-api-keys.js';
import {
  SCOPES,
  type Authenticator,
  type Scope,
} from '../../../src/application/ports/authenticator.js';
import { InvalidParameterError } from '../../../src/domain/errors.js';
import { authenticatorTests } from '../../contract/index.js';
import { rejectionOf } from '../../contract/rejection.js';
import {
  SettableClock,
  openAuthenticator,
  observedApiKeys,
  withChecksum,
  type ObservedApiKeys,
} from './fixtures.js';

/** Two credentials whose SHA-256 digests have the same first five bytes, so that no shorter comparison is enough. */
const TWINS = {
  accepted: 'a-static-key-with-a-twin-f7nu',
  refused: 'a-static-key-with-a-twin-10mx3',
};

const generate = apiKeyGenerator();
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

/** How long wrong keys take among this many static keys, which are found, in nanoseconds. */
async function costAmong(count: number): Promise<number> {
  const staticKeys = Array.from({ length: count }, (_, index) => `static-${index}`);
  const among = new ApiKeyAuthenticator({ staticKeys });
  const id = staticKeyId(`static-${count - 1}`);
  expect(await among.authenticate(`static-${count - 1}`)).to.deep.equal(accepted(id, ...SCOPES));
  let least = Infinity;
  for (let round = 0; round < 10; round += 1) {
    const began = process.hrtime.bigint();
    for (let call = 0; call < 20; call += 1) await among.authenticate(`neither-${call}`);
    least = Math.min(least, Number(process.hrtime.bigint() - began));
  }
  return least;
}

describe('ApiKeyAuthenticator', () => {
  let clock: SettableClock;
  let apiKeys: ObservedApiKeys;
  let managed: ManagedApiKeys;
  let authenticator: ApiKeyAuthenticator;

  beforeEach(() => {
    clock = new SettableClock();
    apiKeys = observedApiKeys();
    managed = new ManagedApiKeys({ apiKeys, generate, clock });
    mock.method(performance, 'now', () => 0); // what is cached stays
    const staticKeys = ['static-one', '~', TWINS.accepted];
    authenticator = new ApiKeyAuthenticator({ staticKeys, apiKeys, clock });
  });
  afterEach(() => mock.restoreAll());

  authenticatorTests({ describe, it, open: openAuthenticator });

  describe('with static keys', () => {
    it('needs no store: any other credential is unknown', async () => {
      const alone = new ApiKeyAuthenticator({ staticKeys: ['static-one'], clock });
      const id = staticKeyId('static-one');

      expect(await alone.authenticate('static-one')).to.deep.equal(accepted(id, ...SCOPES));
      for (const credential of ['static-on', 'static-one ', 'Static-one', '', generate().key]) {
        expect(await alone.authenticate(credential), credential).to.deep.equal(unknown);
      }
    });

    it('names every invalid key at once, by position and never by text', () => {
      const missing = undefined as unknown as string; // an environment variable that is not set
      const keys = ['good-key', 'secret one', '', 'good-too', 'secrét-two', missing];

      expect(() => new ApiKeyAuthenticator({ staticKeys: keys }))
        .to.throw(InvalidParameterError)
        .that.satisfies(({ faults, message }: InvalidParameterError) => {
          const expected = [2, 3, 5, 6].map((position) => `static key ${position}`);
          expect(faults.map(({ field }) => field)).to.deep.equal(expected);
          return !/secr|one|two|good/.test(message);
        });
    });

    it('compares whole digests', async () => {
      expect(await authenticator.authenticate(TWINS.accepted)).to.have.property('ok', true);
      expect(await authenticator.authenticate(TWINS.refused)).to.deep.equal(unknown);
    });

    it('finds one among 10,000 at the cost of one among ten', async () => {
      const few = await costAmong(10);
      const many = await costAmong(10_000);

      expect(many / few, 'how many times as long a wrong key takes among 10,000').to.be.below(20);
    });

    it('accepts them while the store is unavailable', async () => {
      await apiKeys.close();
      expect(await authenticator.authenticate('static-one')).to.have.property('ok', true);
    });
  });

  describe('with managed keys', () => {
    it('reveals neither expiry nor revocation to a caller without the whole key', async () => {
      const one = await managed.issue({ name: 'expires', scopes: SCOPES, expiresAt: clock.in(1) });
      const other = await managed.issue({ name: 'revoked', scopes: SCOPES });
      await managed.revoke(other.record.id);
      clock.advance(1);

      expect(await authenticator.authenticate(one.key)).to.deep.equal(expired);
      expect(await authenticator.authenticate(other.key)).to.deep.equal(revoked);
      for (const { id } of [one.record, other.record]) {
        const forged = withChecksum(`ast_live_${id}_${'0'.repeat(43)}`);
        expect(await authenticator.authenticate(forged)).to.deep.equal(unknown);
      }
    });

    it('grants only the scopes that it knows', async () => {
      const { id, key, hash } = generate();
      const scopes = ['pets:paint', 'pets:read'];
      await apiKeys.add({ id, name: 'newer', hash, scopes, createdAt: 0 });

      expect(await authenticator.authenticate(key)).to.deep.equal(accepted(id, 'pets:read'));
    });

    it('accepts nothing by a stored hash that is not a SHA-256', async () => {
      for (const hash of ['', 'abc', '0'.repeat(63), 'z'.repeat(64), '0'.repeat(66)]) {
        const { id, key } = generate();
        await apiKeys.add({ id, name: 'damaged', hash, scopes: [...SCOPES], createdAt: 0 });
        expect(await authenticator.authenticate(key), hash).to.deep.equal(unknown);
      }
    });

    it('compares whole digests: refuses a key whose stored hash differs in any one digit', async () => {
      for (const index of [0, 7, 8, 31, 32, 62, 63]) {
        const { id, key, hash } = generate();
        const digits = Array.from(hash).with(index, hash[index] === '0' ? '1' : '0');
        const altered = { id, name: 'altered', hash: digits.join(''), scopes: SCOPES };
        await apiKeys.add({ ...altered, createdAt: 0 });
        expect(await authenticator.authenticate(key), `digit ${index}`).to.deep.equal(unknown);
      }
    });
  });

  describe('on the edges of time', () => {
    it('accepts a key 1 ms before it expires and refuses it at that instant, cached or not', async () => {
      const { key, record } = await managed.issue({
        name: 'test',
        scopes: SCOPES,
        expiresAt: clock.in(1000),
      });
      clock.advance(999);

      expect(await authenticator.authenticate(key)).to.have.property('ok', true);

      clock.advance(1);

      expect(await authenticator.authenticate(key)).to.deep.equal(expired);
      expect(apiKeys.lookUps).to.deep.equal([record.id]);

      clock.advance(1);

      expect(await authenticator.authenticate(key)).to.deep.equal(expired);
    });

    it('uses the time at which the store answered', async () => {
      const { key } = await managed.issue({
        name: 'test',
        scopes: SCOPES,
        expiresAt: clock.in(1000),
      });
      apiKeys.hold();
      const answer = authenticator.authenticate(key);
      clock.advance(1000);
      apiKeys.release();

      expect(await answer).to.deep.equal(expired);
    });
  });

  describe('while the store hangs', () => {
    it('rejects an aborted call with its reason, and others that share its look-up get their result', async () => {
      const { key, record } = await managed.issue({ name: 'test', scopes: SCOPES });
      apiKeys.hold();
      const others = [authenticator.authenticate(key)];

      for (const reason of [new Error('gone'), undefined]) {
        const controller = new AbortController();
        const { signal } = controller;
        const aborted = rejectionOf(authenticator.authenticate(key, { signal }));
        controller.abort(reason);
        expect(await aborted).to.equal(signal.reason);
        others.push(authenticator.authenticate(key, new AbortController()));
      }

      apiKeys.release();

      for (const other of await Promise.all(others)) expect(other).to.have.property('ok', true);
      expect(apiKeys.lookUps).to.deep.equal([record.id]);
    });

    it('leaves no listener on the signal of a call that is over', async () => {
      const { key } = await managed.issue({ name: 'test', scopes: SCOPES });
      const { signal } = new AbortController();
      for (const credential of [key, key, generate().key, 'static-one'])
        await authenticator.authenticate(credential, { signal });
      await apiKeys.close();
      await rejectionOf(authenticator.authenticate(generate().key, { signal }));

      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });
  });

  describe('comparing in constant time', () => {
    it('compares as much for an unknown id as for a known one', async () => {
      const { key, record } = await managed.issue({ name: 'test', scopes: SCOPES });
      const wrongSecret = withChecksum(`ast_live_${record.id}_${'0'.repeat(43)}`);

      for (const credential of [generate().key, wrongSecret, key])
        expect(await comparisonsBy(authenticator, credential), credential).to.equal(1);
    });
  });
});
