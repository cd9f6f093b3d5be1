import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import type { AnimalStore, CreateCall } from '../../src/application/animal-store.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { readCursor, writeCursor } from '../../src/application/page-cursor.js';
import { InvalidCursorError, InvalidPetError } from '../../src/domain/errors.js';
import { PET_STATUSES } from '../../src/domain/pet.js';
import type { NewPet } from '../../src/domain/pet.js';
import { animalStoreContract, type AnimalStoreSubject } from '../contract/animal-store-contract.js';
import { bites, type Bite } from './bites.js';

/** Wraps a store: what it returns takes the place of the store's own operations. */
type Fault = (store: AnimalStore) => Partial<AnimalStore>;

const subject =
  (fault: Fault = () => ({})) =>
  async (): Promise<AnimalStoreSubject> => {
    const pets = new MemoryPetRepository();
    const store = createAnimalStore({ pets });
    return { store: { ...store, ...fault(store) }, dispose: () => pets.close() };
  };

const broken = (that: string, caughtBy: string, fault: Fault): Bite<AnimalStoreSubject> => ({
  that,
  caughtBy,
  open: subject(fault),
});

const createsOther =
  (change: (pet: NewPet) => NewPet): Fault =>
  (store) => ({ createPet: (pet, call) => store.createPet(change(pet), call) });

const repeatsOther =
  (change: (request: NonNullable<CreateCall['request']>, pet: NewPet) => CreateCall['request']): Fault =>
  (store) => ({
    createPet: (pet, call = {}) =>
      store.createPet(pet, { ...call, request: call.request && change(call.request, pet) }),
  });

const listing: readonly Bite<AnimalStoreSubject>[] = [
  broken(
    'lists ten animals when nothing is asked for',
    'lists twenty animals, ascending by id and of every status, when nothing is asked for',
    (store) => ({ listPets: (query, call) => store.listPets({ ...query, limit: query?.limit ?? 10 }, call) }),
  ),
  broken(
    'lists only the available when nothing is asked for',
    'lists twenty animals, ascending by id and of every status, when nothing is asked for',
    (store) => ({
      listPets: (query = {}, call) => store.listPets({ ...query, status: query.status ?? 'available' }, call),
    }),
  ),
  broken(
    'cuts a limit that is too great',
    'refuses number "101" as a limit, naming the parameter',
    (store) => ({
      listPets: ({ limit = 20, ...query } = {}, call) =>
        store.listPets({ ...query, limit: limit > 100 ? 100 : limit }, call),
    }),
  ),
  broken('takes a text for a limit', 'refuses string "5" as a limit, naming the parameter', (store) => ({
    listPets: ({ limit = 20, ...query } = {}, call) =>
      store.listPets({ ...query, limit: Number(String(limit)) }, call),
  })),
  broken(
    'lists everything for a status that it does not know',
    'refuses string "gone" as a status to list, naming the parameter',
    (store) => ({
      listPets: async (query = {}, call) =>
        store.listPets(query, call).catch(() => store.listPets({ ...query, status: undefined }, call)),
    }),
  ),
  broken('names no parameter', 'refuses number "0" as a limit, naming the parameter', (store) => ({
    listPets: (query, call) =>
      store.listPets(query, call).catch((error: Error) => {
        error.message = 'The call is not valid.';
        throw error;
      }),
  })),
  broken(
    'has a next page after the last',
    'fills every page but the last, which has no next: all',
    (store) => ({
      async listPets(query, call) {
        const page = await store.listPets(query, call);
        const last = page.pets.at(-1);
        return last ? { next: writeCursor(last.id, query?.status), ...page } : page;
      },
    }),
  ),
  broken(
    'filters after it limited',
    'fills every page but the last, which has no next: those pending',
    (store) => ({
      async listPets({ status, ...query } = {}, call) {
        const page = await store.listPets(query, call);
        return { ...page, pets: page.pets.filter((pet) => status === undefined || pet.status === status) };
      },
    }),
  ),
  broken(
    'gives animals that are not frozen',
    'gives pages that can be changed without changing what is kept',
    (store) => ({
      async listPets(query, call) {
        const page = await store.listPets(query, call);
        return { ...page, pets: page.pets.map((pet) => structuredClone(pet)) };
      },
    }),
  ),
];

/** Makes something else of a cursor before the store reads it. */
const readsCursors =
  (read: (cursor: string) => string): Fault =>
  (store) => ({
    listPets: (query = {}, call) =>
      store.listPets({ ...query, cursor: query.cursor === undefined ? undefined : read(query.cursor) }, call),
  });

const paging: readonly Bite<AnimalStoreSubject>[] = [
  broken('starts again when a cursor is no good', 'refuses a text that never was a cursor', (store) => ({
    listPets: (query, call) =>
      store.listPets(query, call).catch((error: unknown) => {
        if (error instanceof InvalidCursorError) return store.listPets({ ...query, cursor: undefined }, call);
        throw error;
      }),
  })),
  broken('takes an empty cursor for none', 'refuses a text that never was a cursor', (store) => ({
    listPets: (query, call) => store.listPets({ ...query, cursor: query?.cursor || undefined }, call),
  })),
  broken(
    'fails on a cursor that is not well-formed',
    'refuses a text that never was a cursor',
    readsCursors((cursor) => decodeURIComponent(encodeURIComponent(cursor))),
  ),
  broken(
    'takes capitals in a cursor for small letters',
    'refuses a cursor with any one character changed, left out, doubled or put in',
    readsCursors((cursor) => cursor.toLowerCase()),
  ),
  broken(
    'trims a cursor',
    'refuses a cursor with any one character changed, left out, doubled or put in',
    readsCursors((cursor) => cursor.trim()),
  ),
  broken(
    'takes a cursor without its last digit',
    'refuses every truncation of a cursor, from either end',
    (store) => {
      const given = new Map<string, string>();
      return {
        async listPets(query = {}, call) {
          const { cursor = '' } = query;
          const page = await store.listPets({ ...query, cursor: given.get(cursor) ?? query.cursor }, call);
          if (page.next !== undefined) given.set(page.next.slice(0, -1), page.next);
          return page;
        },
      };
    },
  ),
  broken(
    'takes a cursor in a list with another filter',
    'refuses a cursor in a list with another status filter than it was given for',
    (store) => ({
      async listPets(query = {}, call) {
        const { status, cursor } = query;
        for (const given of [undefined, ...PET_STATUSES]) {
          try {
            return await store.listPets(
              { ...query, cursor: cursor && writeCursor(readCursor(cursor, given), status) },
              call,
            );
          } catch (error) {
            if (!(error instanceof InvalidCursorError)) throw error;
          }
        }
        return store.listPets(query, call);
      },
    }),
  ),
];

const creating: readonly Bite<AnimalStoreSubject>[] = [
  broken(
    'creates pending animals when no status is given',
    'creates an animal that is available when no status is given',
    createsOther((pet) => ({ status: 'pending', ...pet })),
  ),
  broken(
    'trims names',
    'creates an animal with leading and trailing spaces in its name, exactly',
    createsOther((pet) => (typeof pet?.name === 'string' ? { ...pet, name: pet.name.trim() } : pet)),
  ),
  broken(
    'sends a categoryId through a number',
    'creates an animal with a categoryId of 9007199254740993, to the digit',
    createsOther((pet) =>
      typeof pet?.categoryId === 'bigint' ? { ...pet, categoryId: BigInt(Number(pet.categoryId)) } : pet,
    ),
  ),
  broken(
    'takes a text for a categoryId',
    'refuses the text "7" as categoryId, naming the field, and stores nothing',
    createsOther((pet) =>
      typeof pet?.categoryId === 'string' ? { ...pet, categoryId: BigInt(pet.categoryId) } : pet,
    ),
  ),
  broken(
    'takes a number that has lost digits for a categoryId',
    'refuses number [9007199254740992] as categoryId, naming the field, and stores nothing',
    createsOther((pet) =>
      Number.isInteger(pet?.categoryId) ? { ...pet, categoryId: BigInt(pet.categoryId) } : pet,
    ),
  ),
  broken(
    'takes null for no status',
    'refuses object [null] as status, naming the field, and stores nothing',
    createsOther((pet) => (pet?.status === null ? { ...pet, status: undefined } : pet)),
  ),
  broken(
    'stores an animal before it refuses it',
    'refuses the text "gone" as status, naming the field, and stores nothing',
    (store) => ({
      createPet: (pet, call) =>
        store.createPet(pet, call).catch(async (error: unknown) => {
          await store.createPet({ name: 'Fido', categoryId: 1n });
          throw error;
        }),
    }),
  ),
  broken('names only the first fault', 'names all faults of an animal in one message', (store) => ({
    createPet: (pet, call) =>
      store.createPet(pet, call).catch((error: unknown) => {
        throw error instanceof InvalidPetError ? new InvalidPetError(error.faults.slice(0, 1)) : error;
      }),
  })),
  broken(
    'gives back whatever else was given',
    'assigns ids itself and drops whatever else was given',
    (store) => ({
      async createPet(pet, call) {
        const created = await store.createPet(pet, call);
        return { ...created, pet: Object.freeze({ ...pet, ...created.pet }) };
      },
    }),
  ),
];

const getting: readonly Bite<AnimalStoreSubject>[] = [
  broken(
    'cuts an id to 64 bits',
    'finds no animal with the bigint 18446744073709551617: pet_not_found',
    (store) => ({ getPet: (id, call) => store.getPet(BigInt.asIntN(64, BigInt(id)), call) }),
  ),
  broken(
    'takes a text for an id',
    'refuses string [1] as an id, which is neither a bigint nor a safe integer',
    (store) => ({
      getPet: (id, call) => store.getPet(typeof id === 'bigint' ? id : Number(String(id)), call),
    }),
  ),
  broken(
    'lets an error of BigInt out',
    'refuses number [1.5] as an id, which is neither a bigint nor a safe integer',
    (store) => ({ getPet: async (id, call) => store.getPet(BigInt(id), call) }),
  ),
  broken(
    'ignores an aborted signal when it gets',
    'rejects with the reason of a signal that is aborted already, and stores nothing: getPet',
    (store) => ({ getPet: (id) => store.getPet(id) }),
  ),
  broken(
    'ignores an aborted signal when it creates',
    'rejects with the reason of a signal that is aborted already, and stores nothing: createPet',
    (store) => ({
      async createPet(pet, { signal, ...call } = {}) {
        const created = await store.createPet(pet, call);
        signal?.throwIfAborted();
        return created;
      },
    }),
  ),
];

const repeating: readonly Bite<AnimalStoreSubject>[] = [
  broken(
    'ignores request tokens',
    'creates once for a request token and replays the animal as it was created',
    repeatsOther(() => undefined),
  ),
  broken(
    'does not tell a replay from a creation',
    'creates once for a request token and replays the animal as it was created',
    (store) => ({
      createPet: async (pet, call) => ({ ...(await store.createPet(pet, call)), replayed: false }),
    }),
  ),
  broken(
    'tells animals apart by how they were written',
    'takes the same animal written otherwise for the same animal',
    repeatsOther((request, pet) => ({
      ...request,
      token: typeof pet?.categoryId === 'number' && request.token ? 'number' : request.token,
    })),
  ),
  broken(
    'takes tokens for the same by their animals',
    'refuses a request token that was used for an animal with another name (fido), and stores nothing',
    repeatsOther((request, pet) =>
      typeof request.token === 'string' && request.token.length > 1 && request.token.length < 200
        ? { ...request, token: `${request.token} ${pet.name}` }
        : request,
    ),
  ),
  broken(
    'folds the case of request tokens',
    'keeps another request token apart',
    repeatsOther((request) => ({
      ...request,
      token: typeof request.token === 'string' ? request.token.toLowerCase() : request.token,
    })),
  ),
  broken(
    'ignores the scope of a request token',
    'keeps the same request token of another scope apart',
    repeatsOther((request) => ({ ...request, scope: 'everybody' })),
  ),
  broken(
    'cuts a request token that is too long',
    'refuses a request token that is empty, too long or not Unicode, and stores nothing',
    repeatsOther((request) => ({
      ...request,
      token: typeof request.token === 'string' ? request.token.slice(0, 255) : request.token,
    })),
  ),
  broken(
    'looks for a request in one step and makes it in another',
    'creates one animal for twenty simultaneous calls with one request token',
    (store) => {
      const made = new Map<string, Awaited<ReturnType<AnimalStore['createPet']>>>();
      return {
        async createPet(pet, { request, ...call } = {}) {
          const key = JSON.stringify(request);
          const earlier = request && made.get(key);
          if (earlier) return { ...earlier, replayed: true };
          const created = await store.createPet(pet, call);
          made.set(key, created);
          return created;
        },
      };
    },
  ),
];

bites(animalStoreContract, subject(), [...listing, ...paging, ...creating, ...getting, ...repeating]);
