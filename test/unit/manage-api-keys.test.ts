import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { ManagedApiKeys, generateApiKey } from '../../src/adapters/api-keys/index.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { SCOPES, type ApiKeyRepository } from '../../src/index.js';
import { SettableClock } from '../settable-clock.js';

describe('ManagedApiKeys', () => {
  let clock: SettableClock;
  let apiKeys: ApiKeyRepository;
  let managed: ManagedApiKeys;

  beforeEach(() => {
    clock = new SettableClock();
    ({ apiKeys } = openMemoryStore());
    managed = new ManagedApiKeys({ apiKeys, generate: generateApiKey, clock });
  });

  it('issues a key and stores its hash alone', async () => {
    const { key, details } = await managed.issue({
      name: '店 1',
      scopes: ['pets:write', 'pets:read', 'pets:write'],
      expiresAt: clock.in(1),
    });

    expect(key).to.match(new RegExp(`^ast_live_${details.id}_`));
    expect(details).to.deep.equal({
      id: details.id,
      name: '店 1',
      scopes: ['pets:read', 'pets:write'],
      createdAt: clock.now(),
      expiresAt: clock.in(1),
      state: 'active',
    });
    expect(JSON.stringify(await apiKeys.list())).not.to.include(key.split('_')[3] ?? '');
  });

  it('refuses a request with faults, names all of them, and stores nothing', async () => {
    const requests: unknown[] = [
      { name: ' ', scopes: ['all'], expiresAt: clock.now() },
      { name: 'x'.repeat(101), scopes: [], expiresAt: NaN },
      // A misspelled member must not make a key of every scope, or one for ever.
      { name: 'a\u202eb', scope: ['pets:read'], expiresAt: null },
    ];

    for (const request of requests)
      await rejects(managed.issue(request as never), (error: { faults: { field: string }[] }) => {
        const fields = error.faults.map(({ field }) => field);
        return fields.join() === 'name,scopes,expiresAt';
      });
    expect(await apiKeys.list()).to.deep.equal([]);
  });

  it('lists keys, the oldest first, with their state', async () => {
    const expiring = await managed.issue({ name: 'a', scopes: SCOPES, expiresAt: clock.in(2) });
    clock.advance(1);
    await managed.issue({ name: 'b', scopes: SCOPES });
    await managed.revoke(expiring.details.id);
    await managed.issue({ name: 'c', scopes: SCOPES, expiresAt: clock.in(1) });
    clock.advance(1);

    const states = (await managed.list()).map(({ name, state }) => `${name} ${state}`);

    expect(states).to.deep.equal(['a revoked', 'b active', 'c expired']);
  });

  it('revokes at once, shows the time of the first revocation, and knows no other id', async () => {
    const { details } = await managed.issue({ name: 'a', scopes: SCOPES });
    const revokedAt = clock.now();
    const first = await managed.revoke(details.id);
    clock.advance(1000);

    expect(first).to.deep.include({ revokedAt, state: 'revoked' });
    expect(await managed.revoke(details.id)).to.deep.equal(first);
    expect(await managed.revoke('00000001')).to.equal(undefined);
  });

  it('issues one first key, however many processes start, and none in place of a revoked one', async () => {
    const issued = await Promise.all([managed.issueFirst('first'), managed.issueFirst('first')]);
    const [first, ...more] = issued.filter((key) => key !== undefined);
    expect(more).to.deep.equal([]);
    expect(first?.details.scopes).to.deep.equal(SCOPES);

    await managed.revoke(String(first?.details.id));

    expect(await managed.issueFirst('first')).to.equal(undefined);
  });

  it('gives up when its random id is taken', async () => {
    const clumsy = new ManagedApiKeys({ apiKeys, generate: () => generateApiKey('taken000') });
    await clumsy.issue({ name: 'a', scopes: SCOPES });

    await rejects(clumsy.issue({ name: 'b', scopes: SCOPES }), { code: 'service_unavailable' });
  });
});
