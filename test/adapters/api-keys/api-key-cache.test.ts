import { rejects } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ApiKeyCache } from '../../../src/adapters/api-keys/api-key-cache.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { ObservedApiKeyRepository } from './observed-api-key-repository.js';

const record = (id: string) =>
  ({ id, name: 'test', hash: '0'.repeat(64), scopes: ['pets:read'], createdAt: new Date() }) as const;

describe('ApiKeyCache', () => {
  let keys: ObservedApiKeyRepository;
  let cache: ApiKeyCache;
  let elapsed: number;

  beforeEach(async () => {
    keys = new ObservedApiKeyRepository();
    await keys.add(record('one'));
    elapsed = 1000;
    cache = new ApiKeyCache(keys, () => elapsed);
  });

  it('asks the store once within 500 ms, and again at 500 ms', async () => {
    await cache.find('one');
    elapsed += 499;
    expect(await cache.find('one')).to.deep.include({ id: 'one' });
    expect(keys.lookUps).to.have.length(1);
    elapsed += 1;
    await cache.find('one');
    expect(keys.lookUps).to.have.length(2);
  });

  it('does not prolong an answer by using it', async () => {
    for (let call = 0; call < 10; call += 1) {
      await cache.find('one');
      elapsed += 100;
    }
    expect(keys.lookUps).to.have.length(2);
  });

  it('lets calls that overlap share a look-up', async () => {
    keys.hold();
    const calls = [cache.find('one'), cache.find('one'), cache.find('one')];
    keys.release();
    for (const key of await Promise.all(calls)) expect(key).to.deep.include({ id: 'one' });
    expect(keys.lookUps).to.deep.equal(['one']);
  });

  it('counts the age of an answer from the beginning of its look-up, however late it came', async () => {
    keys.hold();
    const slow = cache.find('one');
    await keys.update('one', (key) => ({ ...key, name: 'changed' }));
    elapsed += 500;
    // A call that comes now would be told what was true 500 ms ago: it looks for itself.
    const late = cache.find('one');
    keys.release();
    expect(await slow).to.deep.include({ name: 'test' });
    expect(await late).to.deep.include({ name: 'changed' });
    expect(await cache.find('one')).to.deep.include({ name: 'changed' });
    expect(keys.lookUps).to.have.length(2);
  });

  it('does not remember an answer that took 500 ms to come', async () => {
    keys.hold();
    const slow = cache.find('one');
    elapsed += 500;
    keys.release();
    await slow;
    await cache.find('one');
    expect(keys.lookUps).to.have.length(2);
  });

  it('does not remember that a key is unknown', async () => {
    expect(await cache.find('two')).to.equal(undefined);
    await keys.add(record('two'));
    expect(await cache.find('two')).to.deep.include({ id: 'two' });
  });

  it('does not remember a failure, and hides none', async () => {
    const failure = new UnavailableError('reading a key');
    let fails = true;
    cache = new ApiKeyCache(
      { findById: (id) => (fails ? Promise.reject(failure) : keys.findById(id)) },
      () => elapsed,
    );
    const outcomes = await Promise.allSettled([cache.find('one'), cache.find('one')]);
    expect(outcomes).to.deep.equal([1, 2].map(() => ({ status: 'rejected', reason: failure })));
    fails = false;
    expect(await cache.find('one')).to.deep.include({ id: 'one' });
  });

  it('remembers 1,000 keys and forgets the one that was looked up first for the next', async () => {
    const ids = Array.from({ length: 1001 }, (_, number) => `key-${number}`);
    for (const id of ids) await keys.add(record(id));
    for (const id of ids) await cache.find(id);
    keys.lookUps.length = 0;
    for (const id of ids.slice(1)) await cache.find(id);
    expect(keys.lookUps).to.deep.equal([]);
    await cache.find('key-0');
    expect(keys.lookUps).to.deep.equal(['key-0']);
  });

  it('counts a key that was looked up again among the latest', async () => {
    const ids = Array.from({ length: 1001 }, (_, number) => `key-${number}`);
    for (const id of ids) await keys.add(record(id));
    const [first = '', ...others] = ids;
    await cache.find(first);
    elapsed += 250;
    for (const id of others.slice(0, 999)) await cache.find(id);
    elapsed += 250;
    await cache.find(first);
    await cache.find(ids.at(-1) ?? '');
    keys.lookUps.length = 0;
    await cache.find(first);
    expect(keys.lookUps).to.deep.equal([]);
  });

  describe('when a caller leaves', () => {
    it('rejects that call with the reason, at once', async () => {
      keys.hold();
      const leaving = new AbortController();
      const call = cache.find('one', { signal: leaving.signal });
      const reason = new Error('gone');
      leaving.abort(reason);
      await rejects(call, reason);
      keys.release();
    });

    it('goes on with the look-up for the others', async () => {
      keys.hold();
      const leaving = new AbortController();
      const first = cache.find('one', { signal: leaving.signal });
      const second = cache.find('one');
      leaving.abort(new Error('gone'));
      await rejects(first, /gone/);
      expect(keys.signals[0]?.aborted).to.equal(false);
      keys.release();
      expect(await second).to.deep.include({ id: 'one' });
      expect(keys.lookUps).to.have.length(1);
    });

    it('gives the look-up up when nobody waits for it, and begins another for the next caller', async () => {
      keys.hold();
      const leaving = new AbortController();
      const calls = [1, 2].map(() => cache.find('one', { signal: leaving.signal }));
      expect(keys.signals[0]?.aborted).to.equal(false);
      leaving.abort(new Error('gone'));
      for (const call of calls) await rejects(call, /gone/);
      expect(keys.signals[0]?.aborted).to.equal(true);
      const next = cache.find('one');
      keys.release();
      expect(await next).to.deep.include({ id: 'one' });
      expect(keys.lookUps).to.have.length(2);
    });

    it('keeps the newer look-up that others began meanwhile', async () => {
      keys.hold();
      const leaving = new AbortController();
      const first = cache.find('one', { signal: leaving.signal });
      elapsed += 500;
      const second = cache.find('one');
      leaving.abort(new Error('gone'));
      await rejects(first, /gone/);
      const third = cache.find('one');
      keys.release();
      expect(await second).to.equal(await third);
      expect(keys.lookUps).to.have.length(2);
    });

    it('listens to no signal for longer than the call', async () => {
      const { signal } = new AbortController();
      await cache.find('one', { signal });
      await cache.find('two', { signal });
      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    });

    it('rejects a call that had left before it came', async () => {
      keys.hold();
      await rejects(cache.find('one', { signal: AbortSignal.abort(new Error('gone')) }), /gone/);
      keys.release();
    });
  });
});
