import type { Clock } from '../../../src/application/ports/clock.js';
import type {
  CopiedStore,
  CopyRequest,
  Key,
  KeyOperations,
  NewKey,
  Operations,
  ReportedCalls,
  PortCheck,
  StoreCheckProgress,
  StoreCheckRequest,
} from '../../../src/adapters/cli/operations.js';
import type { DeprecatedCallQuery } from '../../../src/application/ports/deprecated-call-repository.js';
import type { CopyProgress } from '../../../src/application/copy-catalogue.js';

export const SHOP: Key = {
  id: '4fZk02Qa',
  name: 'shop',
  scopes: ['pets:read', 'pets:write'],
  createdAt: new Date('2026-11-20T10:00:00.000Z'),
  state: 'active',
};

export const WINDOW: Key = {
  id: '9aB3cD4e',
  name: 'shop window',
  scopes: ['pets:read'],
  createdAt: new Date('2026-11-21T11:30:00.250Z'),
  expiresAt: new Date('2027-02-19T11:30:00.250Z'),
  revokedAt: new Date('2026-12-01T00:00:00.000Z'),
  replacedBy: SHOP.id,
  state: 'revoked',
};

/** What time it is, whenever it is asked. */
const NOW = new Date('2026-11-21T12:00:00.000Z');

export const COPIED: CopiedStore = {
  from: '/stores/old.db',
  to: '/stores/new.db',
  pets: 1_234_567,
  written: 1_234_567,
  claims: 1,
  apiKeys: 0,
  lastId: 9_007_199_254_740_993n,
  checksum: 'ab'.repeat(32),
};

export const REPORTED: readonly ReportedCalls[] = [
  {
    day: '2026-11-20',
    operationId: 'getPet',
    keyId: SHOP.id,
    keyName: SHOP.name,
    calls: 1_234,
    lastAt: new Date('2026-11-20T23:59:59.999Z'),
  },
  {
    day: '2026-11-21',
    operationId: 'getPet',
    keyId: 'static-7817f5e20259',
    calls: 1,
    lastAt: new Date('2026-11-21T00:00:00.000Z'),
  },
];

type KeyRequest = Parameters<KeyOperations['issue']>[0];

/** A store's keys that are always the same, and that remember what was asked of them. */
export class FakeOperations implements Operations, KeyOperations {
  readonly asked: Array<readonly [operation: string, ...arguments: unknown[]]> = [];
  /** The requests of the issues among these. */
  readonly issued: KeyRequest[] = [];
  keys: readonly Key[] = [SHOP, WINDOW];
  reported = REPORTED;
  checks: readonly PortCheck[] = [];
  /** What a copy tells on its way. */
  progress: readonly CopyProgress[] = [];
  /** What every operation but serve is to fail with. */
  failure: Error | undefined;

  async serve(): Promise<number> {
    this.asked.push(['serve']);
    return 1;
  }

  openApi(): string {
    this.asked.push(['openapi']);
    return '{"openapi":"3.1.1"}\n';
  }

  async withKeys<T>(use: (keys: KeyOperations, clock: Clock) => Promise<T>): Promise<T> {
    if (this.failure) throw this.failure;
    return use(this, { now: () => NOW });
  }

  async copy(request: CopyRequest, onProgress: (progress: CopyProgress) => void): Promise<CopiedStore> {
    this.asked.push(['copy', request]);
    for (const progress of this.progress) onProgress(progress);
    if (this.failure) throw this.failure;
    return { ...COPIED, ...(request.resume && { written: 1 }) };
  }

  async deprecatedCalls(query: DeprecatedCallQuery): Promise<readonly ReportedCalls[]> {
    this.asked.push(['deprecations', query]);
    if (this.failure) throw this.failure;
    return this.reported;
  }

  async checkStore(
    request: StoreCheckRequest,
    onProgress: (progress: StoreCheckProgress) => void,
  ): Promise<readonly PortCheck[]> {
    this.asked.push(['check-store', request]);
    if (this.failure) throw this.failure;
    onProgress({ port: 'PetRepository', done: 1, count: 2, failed: 0 });
    onProgress({ port: 'PetRepository', done: 2, count: 2, failed: 1 });
    return this.checks;
  }

  async issue(request: KeyRequest): Promise<NewKey> {
    this.asked.push(['issue', request]);
    this.issued.push(request);
    return {
      key: 'ast_live_the_key',
      record: { ...SHOP, ...request, scopes: request.scopes ?? SHOP.scopes },
    };
  }

  async list(): Promise<readonly Key[]> {
    this.asked.push(['list']);
    return this.keys;
  }

  async revoke(id: string): Promise<Key> {
    this.asked.push(['revoke', id]);
    return { ...WINDOW, id };
  }

  async rotate(
    id: string,
    options: { readonly overlap: number },
  ): Promise<NewKey & { readonly replaced: Key }> {
    this.asked.push(['rotate', id, options]);
    return { key: 'ast_live_the_new_key', record: SHOP, replaced: { ...WINDOW, id } };
  }
}
