import {
  BusyError,
  Readiness,
  type Admission,
  type DocsFile,
  type HttpInterfaceOptions,
  type GivenHttpSettings,
} from '../../../src/adapters/http/index.js';
import { readDocsFiles } from '../../../src/adapters/http/node/index.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import {
  SCOPES,
  type Authenticator,
  type Scope,
} from '../../../src/application/ports/authenticator.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { IdempotencyConflictError, UnavailableError } from '../../../src/domain/errors.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';

/** How a service is set up. */
export interface ServiceSetup {
  /** Settings that differ from the defaults. */
  readonly settings?: GivenHttpSettings;
  /** What is wrong with the store. Default: nothing. */
  readonly store?: keyof typeof BAD_STORES;
  /** Whether there are too many requests. */
  readonly isBusy?: true;
}

/** What every call of a bad store does. */
const BAD_STORES = {
  /** The store cannot be reached. */
  unreachable: async () => {
    throw new UnavailableError('a secret of the inside', { retryAfter: 7 });
  },
  /** An unexpected error. */
  faulty: async () => {
    throw new TypeError('a secret of the inside');
  },
  /** An earlier create with the same idempotency key is still in progress. */
  undecided: async () => {
    throw new IdempotencyConflictError({ retryAfter: 3 });
  },
  /** Never resolves. */
  stuck: () => new Promise<never>(() => {}),
};

/** The animals of every service, with the ids 1 to 5. */
const ANIMALS: readonly UnsavedPet[] = [
  { name: 'Ada', categoryId: -(2n ** 63n), status: 'available' },
  { name: 'Bo', categoryId: 0n, status: 'pending' },
  { name: 'Cy', categoryId: 2n ** 53n + 1n, status: 'sold' },
  { name: 'Di', categoryId: 2n ** 63n - 1n, status: 'available' },
  { name: 'Ed', categoryId: 4n, status: 'sold' },
];

/** The API keys of every service. `second` has every character that RFC 6750 allows in a key. */
export const KEYS = {
  all: 'a-key-with-every-scope',
  second: 'a+b/c~d.e_f-0123456789==',
  reader: 'a-key-that-may-only-read',
  writer: 'a-key-that-may-only-write',
  expired: 'a-key-that-has-expired',
  revoked: 'a-key-that-was-revoked',
} as const;

const SCOPES_OF = new Map<string, readonly Scope[]>([
  [KEYS.all, SCOPES],
  [KEYS.second, SCOPES],
  [KEYS.reader, ['pets:read']],
  [KEYS.writer, ['pets:write']],
]);

const EXPIRED_AT = new Date('2026-11-20T00:00:00Z');

const authenticator: Authenticator = {
  async authenticate(key) {
    const scopes = SCOPES_OF.get(key);
    if (scopes) return { ok: true, principal: { keyId: key, scopes: new Set(scopes) } };
    if (key === KEYS.expired) return { ok: false, reason: 'expired', keyId: key, at: EXPIRED_AT };
    if (key === KEYS.revoked) return { ok: false, reason: 'revoked', keyId: key };
    return { ok: false, reason: 'unknown' };
  },
};

const FULL: Admission = {
  admit() {
    throw new BusyError('too many requests');
  },
};

let docs: Promise<readonly DocsFile[]> | undefined;

/** Makes what a service consists of, on a new store in memory. The animals of the store are in `pets`. */
export async function serviceParts({ settings, store, isBusy }: ServiceSetup): Promise<{
  readonly options: HttpInterfaceOptions;
  readonly pets: PetRepository;
}> {
  const { pets, changes, check } = openMemoryStore();
  for (const animal of ANIMALS) await pets.add(animal);
  const call = store && BAD_STORES[store];
  docs ??= readDocsFiles();
  const options: HttpInterfaceOptions = {
    animalStore: createAnimalStore({
      pets: call ? { add: call, addOnce: call, findById: call, list: call } : pets,
      changes: call ? { change: call, remove: call } : changes,
    }),
    authenticator,
    readiness: new Readiness(call ?? check),
    docs: await docs,
    ...(settings && { settings }),
    ...(isBusy && { admission: FULL }),
  };
  return { options, pets };
}
