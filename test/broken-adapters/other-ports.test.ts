import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type {
  ApiKeyRecord,
  ApiKeyRepository,
} from '../../src/application/ports/api-key-repository.js';
import type {
  CatalogueTransfer,
  PetClaim,
} from '../../src/application/ports/catalogue-transfer.js';
import type { CompleteStore, OpenMode, OpenOptions } from '../../src/application/ports/store.js';
import { UnavailableError } from '../../src/domain/errors.js';
import type { Pet } from '../../src/domain/pet.js';
import { apiKeyRepositoryContract } from '../contract/api-key-repository-contract.js';
import {
  TRANSFER_OPERATIONS,
  catalogueTransferContract,
} from '../contract/catalogue-transfer-contract.js';
import {
  storeFactoryContract,
  type StoreFactorySubject,
} from '../contract/store-factory-contract.js';
import {
  failsBroken,
  faultsOf,
  inFirst,
  inPort,
  failsBrokenStores,
  keepsSnapshot,
  withFault,
  type Fault,
} from './broken-adapters.js';

const key = faultsOf<ApiKeyRepository>();

const otherKeys = (): ApiKeyRepository => openMemoryStore().apiKeys;
const remembersKeys = key.remembers('findById', (found) => found !== undefined);
const remembersAbsence = key.remembers('findById', (found) => found === undefined);

const addsOther = (change: (apiKey: ApiKeyRecord) => ApiKeyRecord): Fault<ApiKeyRepository> =>
  key.asks({ add: (apiKey) => [change(apiKey)] });

/** Reads in one step and writes in another. */
const revokesInTwoSteps: Fault<ApiKeyRepository> = (apiKeys) => {
  const instants = new Map<string, number>();
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
const slowKeys = inPort('apiKeys', key.slow('add', 'revoke'));

failsBrokenStores(apiKeyRepositoryContract, {
  ...inFirst('apiKeys', {
    'stores a key exactly: every field': addsOther((apiKey) => ({
      ...apiKey,
      expiresAt: undefined,
    })),
    'stores a key exactly: the time 1970-01-01T00:00:00.999Z': addsOther((apiKey) => ({
      ...apiKey,
      createdAt: 0,
    })),
    'resolves to undefined for an id that no key has': key.asks({
      findById: (id) => [id.toLowerCase()],
    }),
    'resolves to false for an id that is taken, and changes nothing': key.returns({
      add: () => true,
    }),
    // Looks for the id in one step, and adds in another.
    'gives an id to one of twenty simultaneous adds, and stores that one': (apiKeys) => ({
      async add(apiKey, call) {
        const found = await apiKeys.findById(apiKey.id);
        await apiKeys.add(apiKey, call);
        return found === undefined;
      },
    }),
    'shows a change to the next read, even one that found nothing or another key just before': [
      remembersAbsence,
      remembersKeys,
    ],
    'lists hundreds of keys in ascending order of creation, whatever the order of the adds': [
      key.returns({ list: (apiKeys) => apiKeys.slice(0, 100) }),
      key.returns({ list: (apiKeys) => apiKeys.toReversed() }),
    ],
    'lists keys that were created at the same time in the order of the code units of their ids':
      key.returns({
        list: (all) =>
          all.toSorted((one, other) => Buffer.from(one.id).compare(Buffer.from(other.id))),
      }),
    'revokes a key at an instant in the future, and changes nothing else': key.asks({
      revoke: (id) => [id, Date.now()],
    }),
    'revokes a key at an instant in the past, and changes nothing else': key.returns({
      revoke: (apiKey) => apiKey && { ...apiKey, revokedAt: undefined },
    }),
    'keeps the earliest instant of several revocations, so that a retry changes nothing':
      key.returns({
        revoke: (apiKey, _, at) => apiKey && { ...apiKey, revokedAt: at },
      }),
    'resolves to undefined for a revocation of an id that no key has, and stores nothing':
      key.returns({
        revoke: (apiKey, id) => apiKey ?? { id },
      }),
    ...key.endings(['add', 'list', 'revoke'], { findById: remembersKeys }),
  }),
  'has every key exactly as before after closing and opening again': {
    reopened: inPort('apiKeys', key.elsewhere(otherKeys, 'findById', 'add')),
  },
  'shows each key and its revocation at once to another handle that reads all the time': [
    { first: slowKeys, another: inPort('apiKeys', keepsSnapshot(allKeys)) },
    // Reads what is not in its snapshot from the store.
    {
      first: slowKeys,
      another: inPort(
        'apiKeys',
        keepsSnapshot(allKeys, (stored, kept) => kept ?? stored),
      ),
    },
  ],
  'keeps the earliest instant of twenty simultaneous revocations, through two handles if shared': {
    first: inPort('apiKeys', revokesInTwoSteps),
    another: inPort('apiKeys', revokesInTwoSteps),
  },
});

const move = faultsOf<CatalogueTransfer>();

const otherTransfer = (): CatalogueTransfer => openMemoryStore().transfer;

const writesOther = (change: (pets: readonly Pet[]) => readonly Pet[]): Fault<CatalogueTransfer> =>
  move.asks({ writePets: (pets) => [change(pets)] });

const writesFirst = writesOther((pets) => pets.slice(0, 1));

const claimsOther = (change: (claim: PetClaim) => PetClaim): Fault<CatalogueTransfer> =>
  move.asks({ writeClaims: (claims) => [claims.map(change)] });

failsBrokenStores(catalogueTransferContract, {
  ...inFirst('transfer', {
    'surveys animals, and the greatest id that was assigned or reserved, to the digit': [
      move.returns({ survey: ({ lastId }) => ({ pets: Number(lastId), lastId }) }),
      move.returns({ survey: ({ pets, lastId }) => ({ pets, lastId: BigInt(Number(lastId)) }) }),
    ],
    'stores written animals under their ids exactly, for every way of reading': writesOther(
      (pets) => pets.map((pet) => ({ ...pet, id: BigInt(Number(pet.id)) })),
    ),
    'stores every animal of a batch of 1,001, in any order, also below those that are stored': [
      writesOther((pets) => pets.slice(0, 1000)),
      writesOther((pets) => pets.map((pet, index) => ({ ...pet, id: BigInt(index + 1) }))),
    ],
    // Takes a batch for written if its first animal is.
    'stores a batch once that is written again, whole, in part or simultaneously': (transfer) => {
      let last = 0n;
      return {
        async writePets(pets, call) {
          const [first, ...others] = pets;
          if (first && first.id > last) await transfer.writePets(pets, call);
          last = others.at(-1)?.id ?? last;
        },
      };
    },
    'assigns greater ids after those that were reserved': move.asks({
      reserveIds: (last) => [last - 1n],
    }),
    // Surveys what was reserved last.
    'takes nothing back when fewer ids are reserved, or none': (transfer) => {
      let lastId = 0n;
      return {
        reserveIds(last, call) {
          lastId = last;
          return transfer.reserveIds(last, call);
        },
        survey: async (call) => ({ ...(await transfer.survey(call)), lastId }),
      };
    },
    'leaves an animal whose id is taken as it is, and stores the rest of the batch': writesFirst,
    'stores the first of several animals with the same id in a batch, and the rest of it':
      writesOther((pets) => pets.toReversed()),
    'stores an animal under the id of one that was removed, and can remove it again': writesFirst,
    'ends the claim of a removed animal whose id an animal brings back, and no other claim': (
      transfer,
    ) => ({
      async writePets(pets, call) {
        const claims = await transfer.readClaims({ limit: 9, now: 0 });
        await transfer.writePets(pets, call);
        await transfer.writeClaims(claims);
      },
    }),
    'reads a claim that an add has made, with every field, until its keepUntil': move.asks({
      readClaims: (range) => [{ ...range, now: 0 }],
    }),
    // Orders claims by their keys only.
    'reads every live claim exactly once in batches of the limit, whatever its texts': (
      transfer,
    ) => ({
      readClaims: async ({ after, limit, now }, call) =>
        (await transfer.readClaims({ limit: Infinity, now }, call))
          .filter((claim) => after === undefined || claim.key > after.key)
          .toSorted((one, other) => (one.key < other.key ? -1 : 1))
          .slice(0, limit),
    }),
    'honours a written claim: replays the animal, and refuses another fingerprint': claimsOther(
      (claim) => ({
        ...claim,
        fingerprint: 'another fingerprint',
      }),
    ),
    'lets a written claim expire at its keepUntil': claimsOther((claim) => ({
      ...claim,
      keepUntil: 1e14,
    })),
    // Leaves a claim that is there as it is.
    'replaces a claim with the same scope and key, and leaves the others': (transfer) => ({
      async writeClaims(claims, call) {
        const there = await transfer.readClaims({ limit: 10, now: Date.now() });
        const fresh = claims.filter(({ key: sent }) => there.every((claim) => claim.key !== sent));
        return transfer.writeClaims(fresh, call);
      },
    }),
    'is unfinished from the mark until it is taken away, and not before': move.asks({
      markUnfinished: () => [true],
    }),
    ...move.endings(Object.keys(TRANSFER_OPERATIONS)),
  }),
  'has everything that was written and reserved after closing and opening again': {
    reopened: inPort('transfer', move.returns({ isUnfinished: () => false })),
  },
  'shows what was written and reserved to the next call of another handle': {
    another: inPort('transfer', move.elsewhere(otherTransfer, 'readClaims')),
  },
});

const refuse = async () => Promise.reject(new UnavailableError('opened to read'));

/** A place for one store in memory, whose handles close alone. */
class Place {
  readonly store = openMemoryStore();
  exists = false;

  isMissing(mode: OpenMode): boolean {
    return mode !== 'create' && !this.exists;
  }

  petsFor(mode: OpenMode): CompleteStore['pets'] {
    const { pets } = this.store;
    return isReading(mode) ? { ...pets, add: refuse, addOnce: refuse } : pets;
  }

  open({ mode = 'create' }: OpenOptions = {}) {
    if (this.isMissing(mode)) throw new Error('no store is here');
    this.exists = true;
    return { pets: this.petsFor(mode), close: async () => {} };
  }
}

const isReading = (mode: OpenMode): boolean => mode === 'read' || mode === 'snapshot';

const openPlace = (fault?: Fault<Place>) => async (): Promise<StoreFactorySubject> => {
  const place = withFault(new Place(), fault);
  return {
    isShared: true,
    open: async (options) => place.open(options),
    dispose: () => place.store.close(),
  };
};

/** Leaves to those who only read an operation of those who write. */
const takes =
  (operation: 'add' | 'addOnce'): Fault<Place> =>
  (place) => ({
    petsFor: (mode) => ({ ...place.petsFor(mode), [operation]: place.store.pets[operation] }),
  });

failsBroken<StoreFactorySubject, Fault<Place>>(storeFactoryContract, openPlace, {
  'rejects where a store must exist and none does, and creates none': [
    () => ({ isMissing: () => false }),
    (place) => ({
      isMissing(mode) {
        const isMissing = place.isMissing(mode);
        place.exists = true;
        return isMissing;
      },
    }),
  ],
  'opens a store that must exist once it holds an animal': () => ({
    isMissing: (mode) => mode !== 'create',
  }),
  'refuses writes with service_unavailable in an existing store that is only read, and reads on': [
    takes('add'),
    takes('addOnce'),
    (place) => ({
      petsFor: (mode) => ({ ...place.petsFor(mode), ...(isReading(mode) && { list: refuse }) }),
    }),
  ],
  'opens one store for two handles at once': () => ({ petsFor: () => openMemoryStore().pets }),
});
