import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../src/application/ports/api-key-repository.js';
import type { CatalogueTransfer } from '../../src/application/ports/catalogue-transfer.js';
import type { Pet } from '../../src/domain/pet.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import { catalogueTransferContract } from '../contract/catalogue-transfer-contract.js';
import { faultsOf, storeBites, type Bites, type Fault, type HandleFaults } from './bites.js';

const key = faultsOf<ApiKeyRepository>();

const keysElsewhere: Fault<ApiKeyRepository> = () => {
  const { apiKeys } = openMemoryStore();
  return {
    add: (apiKey, call) => apiKeys.add(apiKey, call),
    findById: (id, call) => apiKeys.findById(id, call),
    list: (call) => apiKeys.list(call),
    revoke: (id, at, call) => apiKeys.revoke(id, at, call),
  };
};

/** Remembers what it found, or that it found nothing. */
const remembersKeys =
  (what: 'found' | 'absent'): Fault<ApiKeyRepository> =>
  (apiKeys) => {
    const known = new Map<string, ApiKeyRecord | undefined>();
    return {
      async findById(id, call) {
        if (known.has(id)) return structuredClone(known.get(id));
        const apiKey = await apiKeys.findById(id, call);
        if ((apiKey === undefined) === (what === 'absent')) known.set(id, apiKey);
        return apiKey;
      },
    };
  };

/** Takes effect in two steps. */
const revokesLate: Fault<ApiKeyRepository> = (apiKeys) => {
  const instants = new Map<string, Date>();
  return {
    async revoke(id, at, call) {
      const before = instants.get(id);
      await Promise.resolve();
      instants.set(id, before !== undefined && before < at ? before : at);
      const apiKey = await apiKeys.revoke(id, at, call);
      return apiKey && { ...apiKey, revokedAt: instants.get(id) };
    },
    async findById(id, call) {
      const apiKey = await apiKeys.findById(id, call);
      return apiKey && (instants.has(id) ? { ...apiKey, revokedAt: instants.get(id) } : apiKey);
    },
  };
};

const TAKEN = 'resolves to false for an id that is taken, and changes nothing';

const keyBites: Bites<Fault<ApiKeyRepository> | HandleFaults<ApiKeyRepository>> = {
  'drops an optional field': [
    'stores a key exactly: every field',
    key.asks({ add: ({ expiresAt: _, ...apiKey }, call) => [apiKey, call] }),
  ],
  'drops scopes that it does not know': [
    'stores a key exactly: scopes that no version knows',
    key.returns({
      list: (apiKeys) =>
        apiKeys.map((apiKey) => ({
          ...apiKey,
          scopes: apiKey.scopes.filter((scope) => /read|write/.test(scope)),
        })),
    }),
  ],
  'stores times in seconds': [
    'stores a key exactly: the time 1970-01-01T00:00:00.999Z',
    key.asks({
      add: (apiKey, call) => [
        { ...apiKey, createdAt: new Date(Math.floor(apiKey.createdAt.getTime() / 1000) * 1000) },
        call,
      ],
    }),
  ],
  'returns undefined for an absent field': [
    'stores a key exactly: no optional field',
    key.returns({ findById: (apiKey) => apiKey && { ...apiKey, expiresAt: apiKey.expiresAt } }),
  ],
  'folds the case of ids': [
    'resolves to undefined for an id that no key has',
    key.asks({ findById: (id, call) => [id.toLowerCase(), call] }),
  ],
  'resolves to true for an id that is taken': [TAKEN, key.returns({ add: () => true })],
  'looks whether an id is taken in one step and adds in another': [
    'gives an id to one of twenty simultaneous adds',
    (apiKeys) => ({
      async add(apiKey, call) {
        if (await apiKeys.findById(apiKey.id, call)) return false;
        await apiKeys.add(apiKey, call);
        return true;
      },
    }),
  ],
  'remembers that an id had no key': ['shows a change to the next read, even', remembersKeys('absent')],
  'remembers a key': ['shows a change to the next read, even', remembersKeys('found')],
  'lists the newest first': [
    'lists in ascending order of creation',
    key.returns({ list: (apiKeys) => apiKeys.toReversed() }),
  ],
  'lists in the order of a dictionary': [
    'in the order of the code units of their ids',
    key.returns({
      list: (apiKeys) => apiKeys.toSorted((one, other) => one.id.localeCompare(other.id, 'en')),
    }),
  ],
  'reads the key that it was given late': [
    'stores its own copy of a key',
    (apiKeys) => ({
      async add(apiKey, call) {
        await Promise.resolve();
        return apiKeys.add(apiKey, call);
      },
    }),
  ],
  'returns the dates that it keeps': [
    'returns copies, including dates and scopes',
    (apiKeys) => {
      const kept = new Map<string, Date>();
      return {
        async findById(id, call) {
          const apiKey = await apiKeys.findById(id, call);
          if (apiKey === undefined) return undefined;
          const createdAt = kept.get(id) ?? apiKey.createdAt;
          kept.set(id, createdAt);
          return { ...apiKey, createdAt };
        },
      };
    },
  ],
  'revokes at once whatever the instant': [
    'revokes a key at an instant in the future',
    key.asks({ revoke: (id, _, call) => [id, new Date(), call] }),
  ],
  'resolves to the key as it was before the revocation': [
    'revokes a key at an instant in the past',
    key.returns({ revoke: (apiKey) => apiKey && { ...apiKey, revokedAt: undefined } }),
  ],
  'keeps the latest revocation': [
    'keeps the earliest instant of several revocations',
    key.returns({ revoke: (apiKey, _, at) => apiKey && { ...apiKey, revokedAt: at } }),
  ],
  'revokes in two steps': ['keeps the earliest instant of twenty simultaneous', revokesLate],
  'rejects a revocation of an unknown id': [
    'resolves to undefined for a revocation of an id that no key has',
    key.returns({
      revoke(apiKey) {
        if (apiKey === undefined) throw new Error('no such key');
        return apiKey;
      },
    }),
  ],
  'reads the instant of a revocation late': [
    'copies the instant of a revocation',
    (apiKeys) => ({
      async revoke(id, at, call) {
        await Promise.resolve();
        return apiKeys.revoke(id, at, call);
      },
    }),
  ],
  'closes only itself': ['closes the whole store', () => ({ close: async () => {} })],
  'lets an error of its technology out': [
    'after the store was closed: list',
    key.rejects({
      list(cause) {
        throw new TypeError('connection is closed', { cause });
      },
    }),
  ],
  'ignores an aborted signal': [
    'aborted signal, and changes nothing: revoke',
    key.asks({ revoke: (id, at) => [id, at] }),
  ],
  'ignores an aborted signal of a key that it has read': [
    'aborted signal, and changes nothing: findById',
    remembersKeys('found'),
  ],
  'has lost everything when it is opened again': [
    'has every key exactly as before',
    { reopened: keysElsewhere },
  ],
  'has a handle that remembers that an id had no key': [
    'shows a change to the next read of another handle',
    { another: remembersKeys('absent') },
  ],
  'has a handle that does not see which ids are taken': [
    'resolves to false for an id that was taken through another handle',
    { another: keysElsewhere },
  ],
  'has a handle that revokes in two steps': [
    'simultaneous revocations through two handles',
    { another: revokesLate },
  ],
};

storeBites(apiKeyRepositoryContract, 'apiKeys', keyBites);

const move = faultsOf<CatalogueTransfer>();

const movesElsewhere: Fault<CatalogueTransfer> = () => {
  const { transfer } = openMemoryStore();
  return {
    writePets: (pets, call) => transfer.writePets(pets, call),
    readClaims: (range, call) => transfer.readClaims(range, call),
  };
};

const writesOther = (change: (pets: readonly Pet[]) => readonly Pet[]): Fault<CatalogueTransfer> =>
  move.asks({ writePets: (pets, call) => [change(pets), call] });

const writtenBefore =
  (act: (fresh: readonly Pet[], all: readonly Pet[]) => readonly Pet[]): Fault<CatalogueTransfer> =>
  (transfer) => {
    const written = new Set<bigint>();
    return {
      async writePets(pets, call) {
        const fresh = pets.filter(({ id }) => !written.has(id));
        for (const { id } of pets) written.add(id);
        return transfer.writePets(act(fresh, pets), call);
      },
    };
  };

const transferBites: Bites<Fault<CatalogueTransfer> | HandleFaults<CatalogueTransfer>> = {
  'counts reserved ids as animals': [
    'counts no animals in a new store',
    move.returns({ survey: ({ lastId }) => ({ pets: Number(lastId), lastId }) }),
  ],
  'stores ids as doubles': [
    'stores written animals under their ids exactly',
    writesOther((pets) => pets.map((pet) => ({ ...pet, id: BigInt(Number(pet.id)) }))),
  ],
  'assigns its own ids': [
    'stores a batch whatever the order of its ids',
    writesOther((pets) => pets.map((pet, index) => ({ ...pet, id: BigInt(index + 1) }))),
  ],
  'rejects a batch that was written before': [
    'stores a batch once that is written again',
    writtenBefore((fresh, all) => {
      if (fresh.length < all.length) throw new Error('duplicate key');
      return all;
    }),
  ],
  'ends a batch at an id that is taken': [
    'leaves an animal whose id is taken as it is',
    writesOther((pets) =>
      pets.slice(
        0,
        pets.findIndex(({ id }, index) => id < (pets[index - 1]?.id ?? 0n)),
      ),
    ),
  ],
  'reads the batch that it was given late': [
    'stores its own copy of a batch',
    (transfer) => ({
      async writePets(pets, call) {
        await Promise.resolve();
        return transfer.writePets(pets, call);
      },
    }),
  ],
  'reserves nothing': ['after those up to 4294967296 were reserved', () => ({ reserveIds: async () => {} })],
  'assigns the last reserved id': [
    'after those up to 41 were reserved',
    move.asks({ reserveIds: (last, call) => [last - 1n, call] }),
  ],
  'surveys the greatest id that is in use': [
    'surveys the greatest id that was assigned or reserved',
    move.returns({ survey: (survey) => ({ ...survey, lastId: BigInt(survey.pets) }) }),
  ],
  'returns lapsed claims too': [
    'reads a claim that an add has made',
    move.asks({ readClaims: (range, call) => [{ ...range, now: new Date(0) }, call] }),
  ],
  'orders claims by their keys only': [
    'reads every live claim exactly once',
    (transfer) => ({
      readClaims: async ({ after, limit, now }, call) =>
        (await transfer.readClaims({ limit: Infinity, now }, call))
          .filter((claim) => after === undefined || claim.key > after.key)
          .toSorted((one, other) => (one.key < other.key ? -1 : 1))
          .slice(0, limit),
    }),
  ],
  'loses the fingerprint of a claim': [
    'honours a written claim',
    move.asks({
      writeClaims: (claims, call) => [
        claims.map((claim) => ({ ...claim, fingerprint: 'another fingerprint' })),
        call,
      ],
    }),
  ],
  'lets no written claim lapse': [
    'lets a written claim lapse at its keepUntil',
    move.asks({
      writeClaims: (claims, call) => [claims.map((claim) => ({ ...claim, keepUntil: new Date(1e14) })), call],
    }),
  ],
  'leaves a claim that is there as it is': [
    'replaces a claim with the same scope and key',
    (transfer) => {
      const there = new Set<string>();
      return {
        writeClaims(claims, call) {
          const fresh = claims.filter((claim) => !there.has(claim.key));
          for (const claim of claims) there.add(claim.key);
          return transfer.writeClaims(fresh, call);
        },
      };
    },
  ],
  'reads the claims that it was given late': [
    'copies claims both ways',
    (transfer) => ({
      async writeClaims(claims, call) {
        await Promise.resolve();
        return transfer.writeClaims(claims, call);
      },
    }),
  ],
  'still writes after close': [
    'after the store was closed: writePets',
    () => ({ writePets: async () => {} }),
  ],
  'ignores an aborted signal': [
    'aborted signal, and changes nothing: writeClaims',
    move.asks({ writeClaims: (claims) => [claims] }),
  ],
  'has lost everything when it is opened again': [
    'has everything that was written and reserved after closing',
    { first: movesElsewhere },
  ],
  'has a handle that does not see what another wrote': [
    'shows what was written and reserved to the next call of another handle',
    { another: movesElsewhere },
  ],
};

storeBites(catalogueTransferContract, 'transfer', transferBites);
