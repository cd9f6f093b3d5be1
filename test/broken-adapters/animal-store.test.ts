import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type {
  ChangeOptions,
  CreatedPet,
  ExperimentalAnimalStore,
  IdempotencyKey,
} from '../../src/application/animal-store.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { INT64_MAX } from '../../src/domain/int64.js';
import { InvalidPetError } from '../../src/domain/errors.js';
import type { NewPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import { animalStoreContract } from '../contract/store-contracts.js';
import { each } from '../contract/contract.js';
import {
  failsBroken,
  faultsOf,
  withFault,
  type BrokenAdapters,
  type Fault,
} from './broken-adapters.js';

type BrokenAnimalStores = BrokenAdapters<Fault<ExperimentalAnimalStore>>;

const { asks, returns, rejects, deaf, hasty } = faultsOf<ExperimentalAnimalStore>();

/** Changes an animal, if it is an object. */
const createsOther = (change: (pet: NewPet) => NewPet): Fault<ExperimentalAnimalStore> =>
  asks({ createPet: (pet) => [typeof pet === 'object' && pet !== null ? change(pet) : pet] });

/** Changes an idempotency key, if its parts are texts. */
const keysOther = (
  change: (key: IdempotencyKey, pet: NewPet) => IdempotencyKey | undefined,
): Fault<ExperimentalAnimalStore> =>
  asks({
    createPet: (pet, { idempotencyKey: sent, ...call } = {}) => {
      const isText = typeof sent?.key === 'string' && typeof sent.scope === 'string';
      return [pet, { ...call, idempotencyKey: sent && isText ? change(sent, pet) : sent }];
    },
  });

/** Leaves a field out of the fingerprint. */
const keysWithout = (fields: Partial<NewPet>): Fault<ExperimentalAnimalStore> =>
  asks({ createPet: (pet, call) => [call?.idempotencyKey ? { ...pet, ...fields } : pet] });

/** Names a page after the last one. */
const hasNext = returns({ listPets: (page) => ({ next: page.pets.at(-1)?.id ?? 0n, ...page }) });

const reading: BrokenAnimalStores = {
  'lists twenty animals of every status in ascending order of id by default': asks({
    listPets: (query) => [{ ...query, limit: query?.limit ?? 10 }],
  }),
  // Cuts a limit that is too large.
  'refuses every invalid limit, and names it': asks({
    listPets: ({ limit = 20, ...query } = {}) => [{ ...query, limit: limit > 100 ? 100 : limit }],
  }),
  // Lists everything for an unknown status.
  'refuses every invalid status, and names it': asks({
    listPets: ({ status, ...query } = {}) => [
      { ...query, status: status && PET_STATUSES.includes(status) ? status : undefined },
    ],
  }),
  'fills every page but the last, which has no next, with a filter or without': [
    hasNext,
    returns({
      listPets: ({ next, ...page }) => (next === undefined ? page : { ...page, next: next + 1n }),
    }),
    // Filters after it limited.
    (animalStore) => ({
      async listPets({ status, ...query } = {}, call) {
        const page = await animalStore.listPets(query, call);
        return {
          ...page,
          pets: page.pets.filter((pet) => status === undefined || pet.status === status),
        };
      },
    }),
  ],
  'returns pages that can be changed without changing the store': returns({
    listPets: (page) => ({ ...page, pets: page.pets.map((pet) => structuredClone(pet)) }),
  }),
  'refuses every invalid after, and names it': asks({
    listPets: ({ after, ...query } = {}) => [
      { ...query, after: typeof after === 'bigint' ? BigInt.asIntN(64, after) : after },
    ],
  }),
  // Begins at the animal, not behind it.
  'begins a page behind any id, also of an animal that the filter leaves out': asks({
    listPets: ({ after, ...query } = {}) => [
      {
        ...query,
        after: after !== undefined && after > 0n && after < INT64_MAX ? after - 1n : after,
      },
    ],
  }),
  'rejects with pet_not_found for an id that no animal has, in int64 or not': asks({
    getPet: (id) => [BigInt.asIntN(64, BigInt(id))],
  }),
  'refuses an id that is neither a bigint nor a safe integer': asks({
    getPet: (id) => [typeof id === 'bigint' ? id : Number(String(id))],
  }),
  ...each(
    {
      listPets: deaf('listPets'),
      createPet: hasty('createPet'),
      'createPet with an idempotency key': hasty('createPet'),
      'listPets with an invalid limit': hasty('listPets'),
      'createPet with an invalid animal': hasty('createPet'),
      'createPet with an invalid idempotency key': hasty('createPet'),
      getPet: deaf('getPet'),
      'getPet with an invalid id': hasty('getPet'),
      'getPet with an id outside int64': deaf('getPet'),
    },
    (call, fault) => [
      `rejects with the reason of an aborted signal, and stores nothing: ${call}`,
      fault,
    ],
  ),
  'gets each animal by its id, as a bigint or as a number': asks({
    getPet: (id) => [BigInt.asIntN(4, BigInt(id))],
  }),
  'lists nothing, without a next page, when the store is empty': hasNext,
  'lists 1 to 100 animals at a time': asks({
    listPets: (query) => [query?.limit === 100 ? { ...query, limit: 99 } : query],
  }),
};

const creating: BrokenAnimalStores = {
  'creates an animal without a status, as available': createsOther((pet) => ({
    status: 'pending',
    ...pet,
  })),
  'creates an animal with every field': createsOther((pet) => ({ ...pet, status: undefined })),
  'creates an animal with 9007199254740993n as categoryId': createsOther((pet) =>
    typeof pet.categoryId === 'bigint'
      ? { ...pet, categoryId: BigInt(Number(pet.categoryId)) }
      : pet,
  ),
  'refuses every invalid categoryId, names the field, and stores nothing': createsOther((pet) =>
    typeof pet.categoryId === 'string' ? { ...pet, categoryId: BigInt(pet.categoryId) } : pet,
  ),
  // Stores an animal before it refuses it.
  'refuses every invalid status, names the field, and stores nothing': (animalStore) =>
    rejects({
      async createPet(error) {
        await animalStore.createPet({ name: 'Fido', categoryId: 1n });
        throw error;
      },
    })(animalStore),
  // Names only the first fault.
  'names every fault of an animal in one message': rejects({
    createPet(error) {
      throw error instanceof InvalidPetError
        ? new InvalidPetError(error.faults.slice(0, 1))
        : error;
    },
  }),
  'assigns ids itself and drops unknown fields': returns({
    createPet: (created, pet) => ({ ...created, pet: { ...pet, ...created.pet } }),
  }),
  'creates once for an idempotency key and replays the animal as it was created': keysOther(
    () => undefined,
  ),
  'recognises the same animal in another spelling': keysOther((key, pet) =>
    typeof pet.categoryId === 'number' ? { ...key, key: 'number' } : key,
  ),
  'refuses an idempotency key that was used for an animal with another name, and stores nothing':
    keysOther((key, pet) => ({ ...key, key: `${key.key} ${pet.name}` })),
  'refuses an idempotency key that was used for an animal with another status, and stores nothing':
    keysWithout({ status: undefined }),
  'separates equal idempotency keys of different scopes': keysOther((key) => ({
    ...key,
    scope: 'everybody',
  })),
  'refuses idempotency keys that are empty, too long or not storable, and stores nothing':
    keysOther((key) => ({ ...key, key: key.key.slice(0, 255) })),
  // Looks in one step for what was created with a key, and creates in another.
  'creates one animal for twenty simultaneous calls with one idempotency key': (animalStore) => {
    const made = new Map<string, CreatedPet>();
    return {
      async createPet(pet, { idempotencyKey, ...call } = {}) {
        if (!idempotencyKey) return animalStore.createPet(pet, call);
        const earlier = made.get(idempotencyKey.key);
        if (earlier) return { ...earlier, replayed: true };
        const created = await animalStore.createPet(pet, call);
        made.set(idempotencyKey.key, created);
        return created;
      },
    };
  },
  'takes idempotency keys of 1 to 255 characters': keysOther((key) => ({
    ...key,
    key: `key ${key.key}`,
  })),
  'refuses scopes that are empty, too long or not storable, and stores nothing': keysOther(
    (key) => ({
      ...key,
      scope: key.scope.slice(0, 255),
    }),
  ),
  'refuses every invalid name, names the field, and stores nothing': createsOther((pet) => ({
    ...pet,
    name: pet.name === '' ? 'nameless' : pet.name,
  })),
  // Takes what is falsy for no key.
  'refuses an idempotency key that is no object, and stores nothing': asks({
    createPet: (pet, { idempotencyKey, ...call } = {}) => [
      pet,
      { ...call, idempotencyKey: idempotencyKey || undefined },
    ],
  }),
  'refuses what is no object as an animal, and stores nothing': asks({
    createPet: (pet) => [
      Object.keys(Object(pet)).includes('name') ? pet : { name: 'Fido', categoryId: 1n },
    ],
  }),
  'refuses an idempotency key that was used for an animal with another categoryId, and stores nothing':
    keysWithout({ categoryId: 1n }),
};

/** Of an animal that was read only its status. */
const onlyStatus = ({ from, ...call }: ChangeOptions = {}): ChangeOptions => ({
  ...call,
  from: typeof from === 'object' ? from?.status : from,
});

const changing: BrokenAnimalStores = {
  'changes the given fields of an animal, by a bigint or a number, and nothing else': returns({
    changePet: (pet) => ({ ...pet }),
  }),
  // Removes again what is gone.
  'removes an animal, once': rejects({ removePet: () => undefined }),
  'does nothing to an animal with another status than `from`: changePet': asks({
    changePet: (id, change, call) => [id, change, { ...call, from: undefined }],
  }),
  'does nothing to an animal with another status than `from`: removePet': asks({
    removePet: (id, call) => [id, { ...call, from: undefined }],
  }),
  'rejects with pet_not_found for an id that no animal has: removePet': asks({
    removePet: (id) => [typeof id === 'bigint' ? BigInt.asIntN(64, id) : id],
  }),
  'refuses an id that is no integer and an unknown `from`: changePet': asks({
    changePet: (id, change, call) => [id, change, { ...call, from: call?.from ?? undefined }],
  }),
  'rejects with the reason of an aborted signal, and changes nothing: removePet':
    hasty('removePet'),
  'rejects with the reason of an aborted signal, and changes nothing: changePet': deaf('changePet'),
  'rejects with pet_not_found for an id that no animal has: changePet': asks({
    changePet: (id) => [typeof id === 'bigint' ? BigInt.asIntN(64, id) : id],
  }),
  'refuses an id that is no integer and an unknown `from`: removePet': asks({
    removePet: (id, call) => [id, { ...call, from: call?.from ?? undefined }],
  }),
  'refuses a change with an invalid field or none, and names it': asks({
    changePet: (id, change) => [id, Object(change).name === '' ? { name: 'x' } : change],
  }),
  'does nothing to an animal that is not as `from`, which was read: changePet': asks({
    changePet: (id, change, call) => [id, change, onlyStatus(call)],
  }),
  'does nothing to an animal that is not as `from`, which was read: removePet': asks({
    removePet: (id, call) => [id, onlyStatus(call)],
  }),
};

const broken: BrokenAdapters<Fault<ExperimentalAnimalStore>> = {
  ...reading,
  ...creating,
  ...changing,
};

failsBroken(
  animalStoreContract,
  (fault?: Fault<ExperimentalAnimalStore>) => async () => {
    const store = openMemoryStore();
    return {
      animalStore: withFault(createAnimalStore(store), fault),
      dispose: () => store.close(),
    };
  },
  broken,
);
