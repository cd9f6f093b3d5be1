import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { ManagedApiKeys } from '../../../src/adapters/api-keys/managed-api-keys.js';
import { MemoryApiKeyRepository } from '../../../src/adapters/memory/memory-api-key-repository.js';
import type { ApiKeyRecord } from '../../../src/application/ports/api-key-repository.js';
import type { Scope } from '../../../src/application/ports/authenticator.js';
import { InvalidParameterError, UnavailableError } from '../../../src/domain/errors.js';
import { SettableClock } from './settable-clock.js';

const DAY = 24 * 60 * 60 * 1000;

describe('ManagedApiKeys', () => {
  let clock: SettableClock;
  let keys: MemoryApiKeyRepository;
  let managed: ManagedApiKeys;

  beforeEach(() => {
    clock = new SettableClock();
    keys = new MemoryApiKeyRepository();
    managed = new ManagedApiKeys({ keys, clock });
  });

  /** Whether the key is good now, by an authenticator that remembers nothing. */
  async function judge(key: string): Promise<string> {
    const answer = await new ApiKeyAuthenticator({ keys, clock }).authenticate(key);
    return answer.ok ? 'accepted' : answer.reason;
  }

  describe('issue', () => {
    it('makes a key for ever, with every scope, when nothing else is asked for', async () => {
      const { key, record } = await managed.issue({ name: 'shop' });
      expect(key).to.match(new RegExp(`^ast_live_${record.id}_`));
      expect(record).to.deep.equal({
        id: record.id,
        name: 'shop',
        scopes: ['pets:read', 'pets:write'],
        createdAt: clock.now(),
        state: 'active',
      });
      clock.advance(100_000 * DAY);
      expect(await judge(key)).to.equal('accepted');
    });

    it('puts the environment word into the key', async () => {
      const { key } = await new ManagedApiKeys({ keys, environment: 'staging2' }).issue({ name: 'shop' });
      expect(key).to.match(/^ast_staging2_/);
    });

    it('refuses an environment word that is none', () => {
      expect(() => new ManagedApiKeys({ keys, environment: 'Live' })).to.throw(
        InvalidParameterError,
        'environment',
      );
    });

    it('lists scopes once and in their own order, however they were given', async () => {
      const scopes: Scope[] = ['pets:write', 'pets:read', 'pets:write'];
      const { record } = await managed.issue({ name: 'shop', scopes });
      expect(record.scopes).to.deep.equal(['pets:read', 'pets:write']);
    });

    it('is not changed by what the caller does to the date it gave or was given', async () => {
      const expiresAt = clock.in(DAY);
      const { key, record } = await managed.issue({ name: 'shop', expiresAt });
      expiresAt.setTime(0);
      expect(record.expiresAt).to.deep.equal(clock.in(DAY));
      record.expiresAt?.setTime(0);
      expect(await judge(key)).to.equal('accepted');
    });

    it('takes names in any script, up to 100 characters', async () => {
      for (const name of ['x', 'x'.repeat(100), 'Лавка', '店', '👩‍👩‍👧 shop', '  padded  ']) {
        expect((await managed.issue({ name })).record.name).to.equal(name);
      }
    });

    for (const [what, name] of Object.entries({
      'an empty name': '',
      'a blank name': ' \u2003',
      'a name of 101 characters': 'x'.repeat(101),
      'a line break': 'a\nb',
      'an escape sequence': 'a\u001b[2Jb',
      'U+0000': 'a\0b',
      'a C1 control character': 'a\u009bb',
      'a line separator': 'a\u2028b',
      'a change of writing direction': 'a\u202eb',
      'a lone surrogate': 'a\ud800b',
    })) {
      it(`refuses ${what}, and stores nothing`, async () => {
        await rejects(managed.issue({ name }), (error) => {
          expect(error)
            .to.be.instanceOf(InvalidParameterError)
            .with.nested.property('faults[0].field', 'name');
          return true;
        });
        expect(await keys.list()).to.deep.equal([]);
      });
    }

    it('names every fault at once, callers without a compiler included', async () => {
      const request = { name: 7, scopes: ['pets:eat'], expiresAt: clock.now() };
      const untyped: { issue(request: object): Promise<unknown> } = managed;
      await rejects(untyped.issue(request), (error) => {
        const fields = error instanceof InvalidParameterError && error.faults.map(({ field }) => field);
        expect(fields).to.deep.equal(['name', 'scopes', 'expiresAt']);
        return true;
      });
    });

    it('refuses no scopes at all, and a time that is no time', async () => {
      await rejects(managed.issue({ name: 'shop', scopes: [] }), InvalidParameterError);
      await rejects(managed.issue({ name: 'shop', expiresAt: new Date(Number.NaN) }), InvalidParameterError);
    });

    it('takes a life up to the end of the year 9999, and says so of a longer one', async () => {
      const expiresAt = new Date('9999-12-31T23:59:59.999Z');
      const { record } = await managed.issue({ name: 'shop', expiresAt });
      expect(record.expiresAt).to.deep.equal(expiresAt);
      clock.advance(1000);
      const rotated = await managed.rotate(record.id, { overlap: 0 });
      expect(rotated.record.expiresAt).to.deep.equal(new Date(expiresAt.getTime() + 1000));

      for (const late of [new Date('+010000-01-01T00:00:00.000Z'), new Date(8.64e15), new Date(Number.NaN)]) {
        await rejects(managed.issue({ name: 'shop', expiresAt: late }), {
          name: 'InvalidParameterError',
          message: /expiresAt must be in the future, and in the year 9999 at the latest/,
        });
      }
    });

    it('draws another id when the one it drew is taken', async () => {
      const drawn: string[] = [];
      const crowded = new (class extends MemoryApiKeyRepository {
        override async add(key: ApiKeyRecord): Promise<boolean> {
          drawn.push(key.id);
          return drawn.length > 2 && super.add(key);
        }
      })();
      const { record } = await new ManagedApiKeys({ keys: crowded, clock }).issue({ name: 'shop' });
      expect(new Set(drawn).size).to.equal(3);
      expect(drawn.at(-1)).to.equal(record.id);
      expect(await crowded.findById(record.id)).to.not.equal(undefined);
    });

    it('gives up on a store that calls every id taken', async () => {
      keys.add = async () => false;
      await rejects(managed.issue({ name: 'shop' }), UnavailableError);
    });
  });

  describe('list', () => {
    it('shows every key, the oldest first, with its state and without its hash', async () => {
      const first = await managed.issue({ name: 'first', expiresAt: clock.in(2) });
      clock.advance(1);
      const second = await managed.issue({ name: 'second' });
      await managed.revoke(second.record.id);
      clock.advance(1);
      const third = await managed.issue({ name: 'third' });
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
    it('ends the key at this instant', async () => {
      const { key, record } = await managed.issue({ name: 'shop' });
      expect(await judge(key)).to.equal('accepted');
      expect(await managed.revoke(record.id)).to.deep.include({ revokedAt: clock.now(), state: 'revoked' });
      expect(await judge(key)).to.equal('revoked');
    });

    it('keeps the first time when it is repeated', async () => {
      const { record } = await managed.issue({ name: 'shop' });
      const { revokedAt } = await managed.revoke(record.id);
      clock.advance(1000);
      expect((await managed.revoke(record.id)).revokedAt).to.deep.equal(revokedAt);
    });

    it('says when no key has the id', async () => {
      await rejects(managed.revoke('nothing0'), { name: 'ApiKeyError', code: 'unknown_key' });
    });
  });

  describe('rotate', () => {
    it('keeps the old key good for the overlap, to the millisecond', async () => {
      const old = await managed.issue({ name: 'shop', scopes: ['pets:read'] });
      const rotated = await managed.rotate(old.record.id, { overlap: 1000 });
      expect(rotated.record).to.deep.include({ name: 'shop', scopes: ['pets:read'], state: 'active' });
      expect(rotated.replaced).to.deep.include({
        id: old.record.id,
        expiresAt: clock.in(1000),
        replacedBy: rotated.record.id,
        state: 'active',
      });
      expect([await judge(old.key), await judge(rotated.key)]).to.deep.equal(['accepted', 'accepted']);
      clock.advance(999);
      expect([await judge(old.key), await judge(rotated.key)]).to.deep.equal(['accepted', 'accepted']);
      clock.advance(1);
      expect([await judge(old.key), await judge(rotated.key)]).to.deep.equal(['expired', 'accepted']);
      clock.advance(1);
      expect([await judge(old.key), await judge(rotated.key)]).to.deep.equal(['expired', 'accepted']);
    });

    it('ends the old key at once with an overlap of 0', async () => {
      const old = await managed.issue({ name: 'shop' });
      const { key, replaced } = await managed.rotate(old.record.id, { overlap: 0 });
      expect(replaced).to.deep.include({ expiresAt: clock.now(), state: 'expired' });
      expect([await judge(old.key), await judge(key)]).to.deep.equal(['expired', 'accepted']);
    });

    it('never lets the overlap prolong the old key', async () => {
      const expiresAt = clock.in(1000);
      const old = await managed.issue({ name: 'shop', expiresAt });
      const { replaced } = await managed.rotate(old.record.id, { overlap: DAY });
      expect(replaced.expiresAt).to.deep.equal(expiresAt);
    });

    it('gives the new key as long a life as the old one was to have', async () => {
      const old = await managed.issue({ name: 'shop', expiresAt: clock.in(90 * DAY) });
      clock.advance(80 * DAY);
      const { key, record } = await managed.rotate(old.record.id, { overlap: 0 });
      expect(record.expiresAt).to.deep.equal(clock.in(90 * DAY));
      clock.advance(90 * DAY - 1);
      expect(await judge(key)).to.equal('accepted');
      clock.advance(1);
      expect(await judge(key)).to.equal('expired');
    });

    it('gives the new key no end when the old one had none, again and again', async () => {
      let { record } = await managed.issue({ name: 'shop' });
      for (let turn = 0; turn < 3; turn += 1) {
        ({ record } = await managed.rotate(record.id, { overlap: 1000 }));
        expect(record).to.not.have.property('expiresAt');
      }
    });

    it('refuses a key that is revoked, expired or replaced, and adds none', async () => {
      const gone = await managed.issue({ name: 'revoked' });
      await managed.revoke(gone.record.id);
      const over = await managed.issue({ name: 'expired', expiresAt: clock.in(1) });
      clock.advance(1);
      const before = await managed.issue({ name: 'replaced' });
      await managed.rotate(before.record.id, { overlap: DAY });
      const count = (await keys.list()).length;
      for (const [{ record }, why] of [
        [gone, /revoked/],
        [over, /expired/],
        [before, /replaced/],
      ] as const) {
        await rejects(managed.rotate(record.id, { overlap: 0 }), { code: 'not_rotatable', message: why });
      }
      expect(await keys.list()).to.have.length(count);
    });

    it('says when no key has the id', async () => {
      await rejects(managed.rotate('nothing0', { overlap: 0 }), { name: 'ApiKeyError', code: 'unknown_key' });
    });

    for (const overlap of [-1, 0.5, Number.NaN, Infinity, 1e300]) {
      it(`refuses an overlap of ${overlap}, and changes nothing`, async () => {
        const { key, record } = await managed.issue({ name: 'shop' });
        await rejects(managed.rotate(record.id, { overlap }), InvalidParameterError);
        expect(await keys.list()).to.have.length(1);
        expect(await judge(key)).to.equal('accepted');
      });
    }

    it('lets exactly one of simultaneous rotations win, and no other new key stays good', async () => {
      const old = await managed.issue({ name: 'shop' });
      const turns = await Promise.allSettled(
        Array.from({ length: 5 }, () => managed.rotate(old.record.id, { overlap: 1000 })),
      );
      const won = turns.flatMap((turn) => (turn.status === 'fulfilled' ? [turn.value] : []));
      const lost = turns.flatMap((turn): unknown[] => (turn.status === 'rejected' ? [turn.reason] : []));
      expect(won).to.have.length(1);
      for (const error of lost) expect(error).to.deep.include({ code: 'not_rotatable' });
      const active = (await managed.list()).filter(({ state }) => state === 'active').map(({ id }) => id);
      expect(active).to.have.members([old.record.id, won[0]?.record.id]);
    });

    it('makes no good key of one that is revoked meanwhile', async () => {
      const { record } = await managed.issue({ name: 'shop' });
      const add = keys.add.bind(keys);
      keys.add = async (key) => {
        clock.advance(1);
        await managed.revoke(record.id);
        return add(key);
      };
      await rejects(managed.rotate(record.id, { overlap: DAY }), { code: 'not_rotatable' });
      expect((await managed.list()).map(({ state }) => state)).to.deep.equal(['revoked', 'revoked']);
    });

    it('adds the new key before it changes the old one, so that a failure between them locks nobody out', async () => {
      const old = await managed.issue({ name: 'shop' });
      const failure = new UnavailableError('changing a key');
      let added = 0;
      keys.update = async () => {
        added = (await keys.list()).length;
        throw failure;
      };
      await rejects(managed.rotate(old.record.id, { overlap: 0 }), failure);
      expect(added).to.equal(2);
      expect(await judge(old.key)).to.equal('accepted');
    });

    it('leaves no new key that nobody has when changing the old one failed', async () => {
      const old = await managed.issue({ name: 'shop' });
      const update = keys.update.bind(keys);
      const failure = new UnavailableError('changing a key');
      keys.update = (id, change) => (id === old.record.id ? Promise.reject(failure) : update(id, change));
      await rejects(managed.rotate(old.record.id, { overlap: 0 }), failure);
      const states = (await managed.list()).map(({ id, state }) => [id === old.record.id, state]);
      expect(states).to.have.deep.members([
        [true, 'active'],
        [false, 'revoked'],
      ]);
    });

    it('does not put a new key in the place of one that is gone', async () => {
      const { record } = await managed.issue({ name: 'shop' });
      const update = keys.update.bind(keys);
      keys.update = async (id, change) => (id === record.id ? undefined : update(id, change));
      await rejects(managed.rotate(record.id, { overlap: 0 }), { code: 'unknown_key' });
      expect((await managed.list()).filter(({ state }) => state === 'active')).to.have.length(1);
    });
  });

  it('lets failures of the store through', async () => {
    await keys.close();
    await rejects(managed.issue({ name: 'shop' }), UnavailableError);
    await rejects(managed.list(), UnavailableError);
    await rejects(managed.revoke('nothing0'), UnavailableError);
    await rejects(managed.rotate('nothing0', { overlap: 0 }), UnavailableError);
  });
});
