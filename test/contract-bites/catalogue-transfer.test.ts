import { MemoryApiKeyRepository } from '../../src/adapters/memory/memory-api-key-repository.js';
import { MemoryCatalogue } from '../../src/adapters/memory/memory-catalogue.js';
import { MemoryCatalogueTransfer } from '../../src/adapters/memory/memory-catalogue-transfer.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import type { CatalogueTransfer } from '../../src/application/ports/catalogue-transfer.js';
import type { Pet } from '../../src/domain/pet.js';
import {
  catalogueTransferContract,
  type CatalogueHandles,
  type CatalogueTransferSubject,
} from '../contract/catalogue-transfer-contract.js';
import { bites, type Bite } from './bites.js';

/** A handle on a transfer that outlives it. */
function handleOn(memory: CatalogueTransfer): CatalogueTransfer {
  const closed = new MemoryCatalogueTransfer(new MemoryCatalogue());
  let target = memory;
  return {
    survey: (call) => target.survey(call),
    readPets: (batch, call) => target.readPets(batch, call),
    writePets: (pets, call) => target.writePets(pets, call),
    readClaims: (batch, call) => target.readClaims(batch, call),
    writeClaims: (claims, call) => target.writeClaims(claims, call),
    readApiKeys: (call) => target.readApiKeys(call),
    writeApiKeys: (keys, call) => target.writeApiKeys(keys, call),
    reserveIds: (last, call) => target.reserveIds(last, call),
    async close() {
      await closed.close();
      target = closed;
    },
  };
}

/** Wraps a handle: what it returns takes the place of the handle's own operations. */
type Fault = (transfer: CatalogueTransfer, catalogue: MemoryCatalogue) => Partial<CatalogueTransfer>;

const none: Fault = () => ({});

const subject =
  ({ first = none, again = none, other = none }: { first?: Fault; again?: Fault; other?: Fault }) =>
  async (): Promise<CatalogueTransferSubject> => {
    const catalogue = new MemoryCatalogue();
    const memory = new MemoryCatalogueTransfer(catalogue);
    const open = (fault: Fault): CatalogueHandles => {
      const transfer = handleOn(memory);
      const pets = new MemoryPetRepository(catalogue);
      Object.assign(pets, { capabilities: { durable: true, shared: true } });
      return {
        transfer: { ...transfer, ...fault(transfer, catalogue) },
        pets,
        keys: new MemoryApiKeyRepository(catalogue),
      };
    };
    const handles = open(first);
    return {
      ...handles,
      async reopen() {
        await handles.transfer.close();
        return open(again);
      },
      another: async () => open(other),
      dispose: () => memory.close(),
    };
  };

const broken = (that: string, caughtBy: string, fault: Fault): Bite<CatalogueTransferSubject> => ({
  that,
  caughtBy,
  open: subject({ first: fault }),
});

const animals: readonly Bite<CatalogueTransferSubject>[] = [
  broken(
    'begins a batch with the last animal of the one before',
    'reads in batches of the limit, each behind the one before, whatever gaps the ids have',
    (transfer) => ({
      readPets: ({ after = 0n, limit }, call) =>
        transfer.readPets({ after: after > 0n ? after - 1n : after, limit }, call),
    }),
  ),
  broken(
    'takes the limit for a stretch of ids',
    'reads in batches of the limit, each behind the one before, whatever gaps the ids have',
    (transfer) => ({
      readPets: async ({ after = 0n, limit }, call) =>
        (await transfer.readPets({ after, limit }, call)).filter(({ id }) => id <= after + BigInt(limit)),
    }),
  ),
  broken(
    'keeps ids as doubles',
    'keeps written animals under their ids, exactly, for every way of reading',
    (transfer) => ({
      writePets: (pets, call) =>
        transfer.writePets(
          pets.map((pet) => ({ ...pet, id: BigInt(Number(pet.id)) })),
          call,
        ),
    }),
  ),
  broken(
    'assigns ids of its own',
    'keeps a batch whatever the order of its ids, and one below what is there',
    (transfer, { pets: kept }) => ({
      writePets: (pets, call) =>
        transfer.writePets(
          pets.map((pet, index) => ({ ...pet, id: BigInt(kept.length + index + 1) })),
          call,
        ),
    }),
  ),
  broken(
    'appends a batch without looking at its order',
    'keeps a batch whatever the order of its ids, and one below what is there',
    (_, { pets: kept }) => ({ writePets: async (pets) => void kept.push(...pets) }),
  ),
  broken(
    'keeps an animal twice that is written twice',
    'keeps a batch once that is written again, whole or in part, also at the same time',
    (_, { pets: kept }) => ({
      async writePets(pets) {
        kept.push(...pets);
        kept.sort((one, other) => (one.id < other.id ? -1 : 1));
      },
    }),
  ),
  broken(
    'rejects a batch that was written before',
    'keeps a batch once that is written again, whole or in part, also at the same time',
    (transfer, catalogue) => ({
      async writePets(pets, call) {
        if (pets.some(({ id }) => catalogue.find(id))) throw new Error('duplicate key');
        await transfer.writePets(pets, call);
      },
    }),
  ),
  broken(
    'puts an animal in the place of one with its id',
    'leaves an animal whose id is taken as it is, and keeps the rest of the batch',
    (transfer, { pets: kept }) => ({
      async writePets(pets, call) {
        for (const pet of pets) {
          const index = kept.findIndex(({ id }) => id === pet.id);
          if (index >= 0) kept[index] = pet;
        }
        await transfer.writePets(pets, call);
      },
    }),
  ),
  broken(
    'ends a batch at an id that is taken',
    'leaves an animal whose id is taken as it is, and keeps the rest of the batch',
    (transfer, catalogue) => ({
      writePets(pets, call) {
        const taken = pets.findIndex(({ id }) => catalogue.find(id));
        return transfer.writePets(taken < 0 ? pets : pets.slice(0, taken), call);
      },
    }),
  ),
  broken(
    'reads the batch that it is given late',
    'keeps its own copy of a batch: changing what was given or read changes nothing',
    (transfer) => ({
      async writePets(pets, call) {
        await Promise.resolve();
        return transfer.writePets(pets, call);
      },
    }),
  ),
  broken(
    'gives what it keeps',
    'keeps its own copy of a batch: changing what was given or read changes nothing',
    (transfer) => {
      const kept = new Map<bigint, Pet>();
      const keep = (pet: Pet): Pet => {
        const own = kept.get(pet.id) ?? { ...pet };
        kept.set(pet.id, own);
        return own;
      };
      return { readPets: async (batch, call) => (await transfer.readPets(batch, call)).map(keep) };
    },
  ),
];

const claims: readonly Bite<CatalogueTransferSubject>[] = [
  broken(
    'gives lapsed claims too',
    'reads claims until the instant that they are kept until, and no longer',
    (transfer) => ({
      readClaims: (batch, call) => transfer.readClaims({ ...batch, now: new Date(0) }, call),
    }),
  ),
  broken(
    'goes through the claims by their tokens only',
    'reads every live claim exactly once in batches of the limit, whatever its texts',
    (transfer) => ({
      readClaims: async ({ after, limit, now }, call) =>
        (await transfer.readClaims({ limit: Infinity, now }, call))
          .filter(({ token }) => after === undefined || token > after.token)
          .toSorted((one, other) => (one.token < other.token ? -1 : 1))
          .slice(0, limit),
    }),
  ),
  broken(
    'loses the fingerprint of a claim',
    'has a written claim honoured: the animal is replayed, and another fingerprint refused',
    (transfer) => ({
      writeClaims: (kept, call) =>
        transfer.writeClaims(
          kept.map((claim) => ({ ...claim, fingerprint: 'another fingerprint' })),
          call,
        ),
    }),
  ),
  broken(
    'leaves a claim that is there as it is',
    'keeps a claim in the place of one with the same scope and token',
    (transfer, { claims: there }) => ({
      writeClaims: (kept, call) =>
        transfer.writeClaims(
          kept.filter(({ scope, token }) => !there.has(JSON.stringify([scope, token]))),
          call,
        ),
    }),
  ),
];

const keys: readonly Bite<CatalogueTransferSubject>[] = [
  broken(
    'leaves a key that is there as it is',
    'keeps a key in the place of one with the same id, and leaves the others',
    (transfer, { apiKeys }) => ({
      writeApiKeys: (records, call) =>
        transfer.writeApiKeys(
          records.filter(({ id }) => !apiKeys.has(id)),
          call,
        ),
    }),
  ),
  broken(
    'merges a key with the one that is there',
    'keeps a key in the place of one with the same id, and leaves the others',
    (transfer, { apiKeys }) => ({
      writeApiKeys: (records, call) =>
        transfer.writeApiKeys(
          records.map((key) => ({ ...apiKeys.get(key.id), ...key })),
          call,
        ),
    }),
  ),
  broken(
    'keeps no revocation',
    'keeps written keys with all they have, for the repository of keys',
    (transfer) => ({
      writeApiKeys: (records, call) =>
        transfer.writeApiKeys(
          records.map((key) => ({ ...key, revokedAt: undefined })),
          call,
        ),
    }),
  ),
];

const ids: readonly Bite<CatalogueTransferSubject>[] = [
  broken('reserves nothing', 'goes on with greater ids when those up to 41 are reserved', () => ({
    reserveIds: async () => {},
  })),
  broken(
    'goes on with the last id that is reserved',
    'goes on with greater ids when those up to 41 are reserved',
    (transfer) => ({ reserveIds: (last, call) => transfer.reserveIds(last - 1n, call) }),
  ),
  broken(
    'takes back what was reserved when less is',
    'takes nothing back when fewer ids are reserved, or none',
    (_, catalogue) => ({
      async reserveIds(last) {
        catalogue.lastId = last;
      },
    }),
  ),
  broken(
    'tells the greatest id that is in use',
    'tells how far the ids went, assigned or reserved',
    (transfer, { pets: kept }) => ({
      survey: async (call) => ({ ...(await transfer.survey(call)), lastId: kept.at(-1)?.id ?? 0n }),
    }),
  ),
];

const surveying: readonly Bite<CatalogueTransferSubject>[] = [
  broken(
    'calls a store empty that has keys only',
    'calls a store with a key alone not empty',
    (transfer, { pets: kept }) => ({
      survey: async (call) => ({ ...(await transfer.survey(call)), empty: kept.length === 0 }),
    }),
  ),
  broken(
    'calls a store with reserved ids not empty',
    'calls a new store empty, also when ids are reserved',
    (transfer) => ({
      async survey(call) {
        const survey = await transfer.survey(call);
        return { ...survey, empty: survey.lastId === 0n };
      },
    }),
  ),
  broken(
    'takes the greatest id for the revision',
    'has another revision when an animal below the others is written',
    (transfer) => ({
      async survey(call) {
        const survey = await transfer.survey(call);
        return { ...survey, revision: `${survey.lastId} ${survey.revision.replace(/^\[\d+/, '')}` };
      },
    }),
  ),
  broken(
    'takes the number of animals and keys for the revision',
    'has another revision when a key is changed',
    (transfer, { pets: kept, apiKeys }) => ({
      survey: async (call) => ({
        ...(await transfer.survey(call)),
        revision: `${kept.length} ${apiKeys.size}`,
      }),
    }),
  ),
  broken(
    'has a revision for each time it is asked',
    'keeps the revision while the store is only read',
    (transfer) => {
      let asked = 0;
      return {
        survey: async (call) => ({ ...(await transfer.survey(call)), revision: `${(asked += 1)}` }),
      };
    },
  ),
];

const outliving: readonly Bite<CatalogueTransferSubject>[] = [
  broken('goes on after close', 'rejects with service_unavailable after close: writePets', () => ({
    close: async () => {},
  })),
  broken(
    'lets an error of its technology out',
    'rejects with service_unavailable after close: reserveIds',
    (transfer) => ({
      reserveIds: (last, call) =>
        transfer.reserveIds(last, call).catch((cause: unknown) => {
          throw new TypeError('connection is closed', { cause });
        }),
    }),
  ),
  broken(
    'ignores an aborted signal when it writes claims',
    'rejects with the reason of a signal that is aborted already, and changes nothing: writeClaims',
    (transfer) => ({ writeClaims: (kept) => transfer.writeClaims(kept) }),
  ),
  {
    that: 'has lost everything when it is opened again',
    caughtBy: 'has everything that was written and reserved after closing and opening again',
    open: subject({ again: () => handleOn(new MemoryCatalogueTransfer(new MemoryCatalogue())) }),
  },
  {
    that: 'has a handle that does not see what another wrote',
    caughtBy: 'shows what was written and reserved to another handle as soon as it is answered',
    open: subject({ other: () => handleOn(new MemoryCatalogueTransfer(new MemoryCatalogue())) }),
  },
  broken(
    'is another store each time it is asked',
    'is the same store by every handle, if it says which',
    (transfer) => ({
      survey: async (call) => ({ ...(await transfer.survey(call)), store: crypto.randomUUID() }),
    }),
  ),
  broken('remembers its revision', 'has another revision when another handle writes', (transfer) => {
    let first: string | undefined;
    return {
      async survey(call) {
        const survey = await transfer.survey(call);
        first ??= survey.revision;
        return { ...survey, revision: first };
      },
    };
  }),
];

bites(catalogueTransferContract, subject({}), [
  ...animals,
  ...claims,
  ...keys,
  ...ids,
  ...surveying,
  ...outliving,
]);
