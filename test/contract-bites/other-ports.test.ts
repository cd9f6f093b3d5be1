import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../src/application/ports/api-key-repository.js';
import type { CatalogueTransfer, PetClaim } from '../../src/application/ports/catalogue-transfer.js';
import type { Pet } from '../../src/domain/pet.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import { catalogueTransferContract } from '../contract/catalogue-transfer-contract.js';
import { faultsOf, inPort, keepsSnapshot, storeBites, type Fault } from './bites.js';

const key = faultsOf<ApiKeyRepository>();

const otherKeys = (): ApiKeyRepository => openMemoryStore().apiKeys;
const remembersKeys = key.remembers('findById', (found) => found !== undefined);
const remembersAbsence = key.remembers('findById', (found) => found === undefined);

const addsOther = (change: (apiKey: ApiKeyRecord) => ApiKeyRecord): Fault<ApiKeyRepository> =>
  key.asks({ add: (apiKey, call) => [change(apiKey), call] });

/** Reads in one step and writes in another. */
const revokesInTwoSteps: Fault<ApiKeyRepository> = (apiKeys) => {
  const instants = new Map<string, Date>();
  return {
    async revoke(id, at, call) {
      const before = instants.get(id);
      await Promise.resolve();
      instants.set(id, before !== undefined && before < at ? before : at);
      return apiKeys.revoke(id, at, call);
    },
    async findById(id, call) {
      const apiKey = await apiKeys.findById(id, call);
      return apiKey && (instants.has(id) ? { ...apiKey, revokedAt: instants.get(id) } : apiKey);
    },
  };
};

const allKeys = (apiKeys: ApiKeyRepository): Promise<readonly ApiKeyRecord[]> => apiKeys.list();
const slowKeys = { apiKeys: key.slow('add', 'revoke') };

storeBites(apiKeyRepositoryContract, 'apiKeys', {
  ...inPort('apiKeys', {
    'stores a key exactly: every field': addsOther((apiKey) => ({ ...apiKey, expiresAt: undefined })),
    'stores a key exactly: the time 1970-01-01T00:00:00.999Z': addsOther((apiKey) => ({
      ...apiKey,
      createdAt: new Date(0),
    })),
    'resolves to undefined for an id that no key has': key.asks({
      findById: (id, call) => [id.toLowerCase(), call],
    }),
    'resolves to false for an id that is taken, and changes nothing': key.returns({ add: () => true }),
    'to the next read, even one that found nothing or': remembersAbsence,
    'or another key just before': remembersKeys,
    'lists hundreds of keys': key.returns({ list: (apiKeys) => apiKeys.slice(0, 100) }),
    'in ascending order of creation': key.returns({ list: (apiKeys) => apiKeys.toReversed() }),
    'in the order of the code units of their ids': key.returns({
      list: (all) => all.toSorted((one, other) => Buffer.from(one.id).compare(Buffer.from(other.id))),
    }),
    'stores its own copy of a key': key.late('add'),
    'returns copies, including dates and scopes': remembersKeys,
    'revokes a key at an instant in the future': key.asks({
      revoke: (id, _, call) => [id, new Date(), call],
    }),
    'revokes a key at an instant in the past': key.returns({
      revoke: (apiKey) => apiKey && { ...apiKey, revokedAt: undefined },
    }),
    'keeps the earliest instant of several revocations': key.returns({
      revoke: (apiKey, _, at) => apiKey && { ...apiKey, revokedAt: at },
    }),
    'resolves to undefined for a revocation of an id that no key has': key.returns({
      revoke: (apiKey, id) => apiKey ?? { id },
    }),
    'copies the instant of a revocation': key.late('revoke'),
    'after close: list': key.alien('list'),
    'and changes nothing: revoke': key.deaf('revoke'),
    'and changes nothing: findById': remembersKeys,
  }),
  'has every key exactly as before': { reopened: { apiKeys: key.elsewhere(otherKeys, 'findById', 'add') } },
  'shows each key and': { first: slowKeys, another: { apiKeys: keepsSnapshot(allKeys) } },
  // Reads what is not in its snapshot from the store.
  'and its revocation at once': {
    first: slowKeys,
    another: { apiKeys: keepsSnapshot(allKeys, (stored, kept) => kept ?? stored) },
  },
  'keeps the earliest instant of twenty simultaneous': {
    first: { apiKeys: revokesInTwoSteps },
    another: { apiKeys: revokesInTwoSteps },
  },
});

const move = faultsOf<CatalogueTransfer>();

const otherTransfer = (): CatalogueTransfer => openMemoryStore().transfer;

const writesOther = (change: (pets: readonly Pet[]) => readonly Pet[]): Fault<CatalogueTransfer> =>
  move.asks({ writePets: (pets, call) => [change(pets), call] });

const claimsOther = (change: (claim: PetClaim) => PetClaim): Fault<CatalogueTransfer> =>
  move.asks({ writeClaims: (claims, call) => [claims.map(change), call] });

storeBites(catalogueTransferContract, 'transfer', {
  ...inPort('transfer', {
    'surveys animals': move.returns({
      survey: ({ lastId }) => ({ pets: Number(lastId), lastId }),
    }),
    'stores written animals under their ids exactly': writesOther((pets) =>
      pets.map((pet) => ({ ...pet, id: BigInt(Number(pet.id)) })),
    ),
    'stores every animal of a batch': writesOther((pets) => pets.slice(0, 1000)),
    'of 1,001, in any order': writesOther((pets) =>
      pets.map((pet, index) => ({ ...pet, id: BigInt(index + 1) })),
    ),
    'leaves an animal whose id is taken as it is': writesOther((pets) => pets.slice(0, 1)),
    'stores an animal under the id of one that was removed': writesOther((pets) => pets.slice(0, 1)),
    'stores its own copy of a batch': move.late('writePets'),
    'and the greatest id that was assigned or reserved': move.returns({
      survey: ({ pets, lastId }) => ({ pets, lastId: BigInt(Number(lastId)) }),
    }),
    'reads a claim that an add has made': move.asks({
      readClaims: (range, call) => [{ ...range, now: new Date(0) }, call],
    }),
    // Orders claims by their keys only.
    'reads every live claim exactly once': (transfer) => ({
      readClaims: async ({ after, limit, now }, call) =>
        (await transfer.readClaims({ limit: Infinity, now }, call))
          .filter((claim) => after === undefined || claim.key > after.key)
          .toSorted((one, other) => (one.key < other.key ? -1 : 1))
          .slice(0, limit),
    }),
    'honours a written claim': claimsOther((claim) => ({ ...claim, fingerprint: 'another fingerprint' })),
    'lets a written claim lapse at its keepUntil': claimsOther((claim) => ({
      ...claim,
      keepUntil: new Date(1e14),
    })),
    // Leaves a claim that is there as it is.
    'replaces a claim with the same scope and key': (transfer) => ({
      async writeClaims(claims, call) {
        const there = await transfer.readClaims({ limit: 10, now: new Date() });
        const fresh = claims.filter(({ key: sent }) => there.every((claim) => claim.key !== sent));
        return transfer.writeClaims(fresh, call);
      },
    }),
    'copies claims both ways': move.late('writeClaims'),
    'is unfinished from the mark until it is taken away': move.asks({ markUnfinished: () => [true] }),
    'and changes nothing: writeClaims': move.deaf('writeClaims'),
  }),
  'has everything that was written and reserved after closing': {
    reopened: { transfer: move.returns({ isUnfinished: () => false }) },
  },
  'shows what was written and reserved to the next call of another handle': {
    another: { transfer: move.elsewhere(otherTransfer, 'readClaims') },
  },
});
