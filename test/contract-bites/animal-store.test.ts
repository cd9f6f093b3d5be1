import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { ExperimentalAnimalStore, IdempotencyKey } from '../../src/application/animal-store.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { INT64_MAX } from '../../src/domain/int64.js';
import { InvalidPetError } from '../../src/domain/errors.js';
import type { NewPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import { animalStoreContract } from '../contract/store-contracts.js';
import { bites, faultsOf, idleFaults, withFault, type Bites, type Fault } from './bites.js';

const { asks, returns, rejects, deaf, hasty } = faultsOf<ExperimentalAnimalStore>();

/** Changes an animal, if it is an object. */
const createsOther = (change: (pet: NewPet) => NewPet): Fault<ExperimentalAnimalStore> =>
  asks({ createPet: (pet, call) => [typeof pet === 'object' && pet !== null ? change(pet) : pet, call] });

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

const ABORTED = 'rejects with the reason of an aborted signal, and stores nothing';

const reading: Bites<Fault<ExperimentalAnimalStore>> = {
  'lists twenty animals of every status': asks({
    listPets: (query, call) => [{ ...query, limit: query?.limit ?? 10 }, call],
  }),
  // Cuts a limit that is too large.
  'refuses every invalid limit': asks({
    listPets: ({ limit = 20, ...query } = {}, call) => [{ ...query, limit: limit > 100 ? 100 : limit }, call],
  }),
  // Lists everything for an unknown status.
  'refuses every invalid status, and names it': asks({
    listPets: (query = {}, call) =>
      query.status === undefined || PET_STATUSES.includes(query.status)
        ? [query, call]
        : [{ ...query, status: undefined }, call],
  }),
  'fills every page but the last, which has no next: of every status': returns({
    listPets: (page) => ({ next: page.pets.at(-1)?.id ?? 0n, ...page }),
  }),
  // Filters after it limited.
  'fills every page but the last, which has no next: with the status pending': (animalStore) => ({
    async listPets({ status, ...query } = {}, call) {
      const page = await animalStore.listPets(query, call);
      return { ...page, pets: page.pets.filter((pet) => status === undefined || pet.status === status) };
    },
  }),
  'returns pages that can be changed': returns({
    listPets: (page) => ({ ...page, pets: page.pets.map((pet) => structuredClone(pet)) }),
  }),
  'refuses every invalid after': asks({
    listPets: ({ after, ...query } = {}, call) => [
      { ...query, after: typeof after === 'bigint' ? BigInt.asIntN(64, after) : after },
      call,
    ],
  }),
  // Begins at the animal, not behind it.
  'begins a page behind any id': asks({
    listPets: ({ after, ...query } = {}, call) => [
      { ...query, after: after !== undefined && after > 0n && after < INT64_MAX ? after - 1n : after },
      call,
    ],
  }),
  'which has no next: with the status sold': returns({
    listPets: ({ next, ...page }) => (next === undefined ? page : { ...page, next: next + 1n }),
  }),
  'rejects with pet_not_found for an id that no animal has, in int64 or not': asks({
    getPet: (id, call) => [BigInt.asIntN(64, BigInt(id)), call],
  }),
  'refuses an id that is neither a bigint nor a safe integer': asks({
    getPet: (id, call) => [typeof id === 'bigint' ? id : Number(String(id)), call],
  }),
  [`${ABORTED}: getPet`]: deaf('getPet'),
};

const creating: Bites<Fault<ExperimentalAnimalStore>> = {
  'creates an animal without a status, as available': createsOther((pet) => ({ status: 'pending', ...pet })),
  'creates an animal with every field': createsOther((pet) => ({ ...pet, status: undefined })),
  'creates an animal with the bigint [9007199254740993] as categoryId': createsOther((pet) =>
    typeof pet.categoryId === 'bigint' ? { ...pet, categoryId: BigInt(Number(pet.categoryId)) } : pet,
  ),
  'refuses every invalid categoryId': createsOther((pet) =>
    typeof pet.categoryId === 'string' ? { ...pet, categoryId: BigInt(pet.categoryId) } : pet,
  ),
  // Stores an animal before it refuses it.
  'refuses every invalid status, names the field': (animalStore) =>
    rejects({
      async createPet(error) {
        await animalStore.createPet({ name: 'Fido', categoryId: 1n });
        throw error;
      },
    })(animalStore),
  // Names only the first fault.
  'names every fault of an animal': rejects({
    createPet(error) {
      throw error instanceof InvalidPetError ? new InvalidPetError(error.faults.slice(0, 1)) : error;
    },
  }),
  'assigns ids itself and drops unknown fields': returns({
    createPet: (created, pet) => ({ ...created, pet: { ...pet, ...created.pet } }),
  }),
  'creates once for an idempotency key': keysOther(() => undefined),
  'recognises the same animal in another spelling': keysOther((key, pet) =>
    typeof pet.categoryId === 'number' ? { ...key, key: 'number' } : key,
  ),
  'refuses an idempotency key that was used for an animal with another name': keysOther((key, pet) => ({
    ...key,
    key: `${key.key} ${pet.name}`,
  })),
  // Leaves the status out of the fingerprint.
  'refuses an idempotency key that was used for an animal with another status': (animalStore) => ({
    createPet: (pet, call) =>
      animalStore.createPet(call?.idempotencyKey ? { ...pet, status: undefined } : pet, call),
  }),
  'separates equal idempotency keys of different scopes': keysOther((key) => ({
    ...key,
    scope: 'everybody',
  })),
  'refuses idempotency keys that are empty, too long': keysOther((key) => ({
    ...key,
    key: key.key.slice(0, 255),
  })),
  [`${ABORTED}: createPet`]: hasty('createPet'),
};

const changing: Bites<Fault<ExperimentalAnimalStore>> = {
  'changes the status of an animal, by a bigint or a number': returns({
    changeStatus: (pet) => ({ ...pet }),
  }),
  // Removes again what is gone.
  'removes an animal, once': rejects({ removePet: () => undefined }),
  // Reads the status in one step and changes it in another.
  'lets exactly one of twenty simultaneous callers sell': (animalStore) => ({
    async changeStatus(id, status, { from, ...call } = {}) {
      const pet = await animalStore.getPet(id);
      await Promise.resolve();
      return animalStore.changeStatus(id, status, pet.status === from ? call : { from, ...call });
    },
  }),
  'with another status than `from`: changeStatus': asks({
    changeStatus: (id, status, call) => [id, status, { ...call, from: undefined }],
  }),
  'with another status than `from`: removePet': asks({
    removePet: (id, call) => [id, { ...call, from: undefined }],
  }),
  'for an id that no animal has: removePet': asks({
    removePet: (id, call) => [typeof id === 'bigint' ? BigInt.asIntN(64, id) : id, call],
  }),
  'refuses an id that is no integer and an unknown `from`: changeStatus': asks({
    changeStatus: (id, status, call) => [id, status, { ...call, from: call?.from ?? undefined }],
  }),
  'and changes nothing: removePet': hasty('removePet'),
  'and changes nothing: changeStatus': deaf('changeStatus'),
  'refuses an unknown status, and names it': asks({
    changeStatus: (id, status, call) => [id, status ?? 'sold', call],
  }),
};

bites(
  animalStoreContract,
  (fault?: Fault<ExperimentalAnimalStore>) => async () => {
    const store = openMemoryStore();
    return { animalStore: withFault(createAnimalStore(store), fault), dispose: () => store.close() };
  },
  { ...reading, ...creating, ...changing },
  idleFaults(createAnimalStore(openMemoryStore())),
);
