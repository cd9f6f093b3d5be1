import type { CallOptions, CreatedPet } from '../../src/application/animal-store.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { CompleteStore, Store } from '../../src/application/ports/store.js';
import type { Pet, UnsavedPet } from '../../src/domain/pet.js';
import assert from 'node:assert/strict';
import {
  missingIn,
  optionalPart,
  type ContractCase,
  type OptionalPart,
  type Subject,
} from './contract.js';
import { claimed, times, type Claiming } from './samples.js';
import { doBoth } from './settle.js';

/** What cases use of an open store. */
export type OpenStore = Omit<Store, 'location' | typeof Symbol.asyncDispose>;

/** An open, empty store: the subject of the contracts of all its ports. */
export interface StoreSubject extends Subject, OpenStore {
  /** For a store that survives the end of the process: closes this handle and opens the same store again. */
  readonly reopen?: (() => Promise<OpenStore>) | undefined;
  /** For a store that several processes may use at the same time: opens one more handle, as another process does. */
  readonly another?: (() => Promise<OpenStore>) | undefined;
  /** Whether new animals become visible in ascending order of id, in every process. Default: false. */
  readonly ordered?: boolean | undefined;
}

/**
 * Opens an empty store as a subject.
 * @param open opens the same store whenever it is called
 * @param remove removes what was stored, after every handle is closed
 * @param declared what the store promises beyond the common cases: see `StoreSubject`
 */
export async function storeSubject(
  open: () => Promise<Store>,
  remove: () => Promise<void>,
  {
    durable,
    shared,
    ordered,
  }: { readonly durable?: boolean; readonly shared?: boolean; readonly ordered?: boolean } = {},
): Promise<StoreSubject> {
  const store = await open().catch(async (error: unknown) => {
    await remove().catch(() => {}); // the first error matters more
    throw error;
  });
  const { pets, apiKeys, transfer, changes } = store;
  const close = async (): Promise<void> => store.close();
  return {
    pets,
    apiKeys,
    transfer,
    changes,
    check: (call) => store.check(call),
    close,
    reopen: durable ? () => close().then(open) : undefined,
    another: shared ? open : undefined,
    ordered,
    dispose: () => doBoth(close, remove),
  };
}

/** What a subject lacks to be a store. */
export const noStore = (subject: StoreSubject): string | undefined =>
  missingIn(subject, 'pets.add', 'pets.findById', 'pets.list');

export type StoreRun = ContractCase<StoreSubject>['run'];

/** A subject as the cases of an optional port see it, which are skipped where the port is not there. */
export type CompleteSubject = StoreSubject &
  Pick<CompleteStore, 'apiKeys' | 'transfer' | 'changes'>;
export type PortRun = (subject: CompleteSubject) => Promise<void>;

/** What only some stores have. */
export const PARTS = {
  durable: optionalPart('durable', ({ reopen }) => reopen !== undefined),
  shared: optionalPart('shared', ({ another }) => another !== undefined),
  ordered: optionalPart('ordered', ({ ordered }) => ordered === true),
  claims: optionalPart('claims', ({ pets }) => pets.addOnce !== undefined),
  apiKeys: optionalPart('apiKeys', ({ apiKeys }) => apiKeys !== undefined),
  changes: optionalPart('changes', ({ changes }) => changes !== undefined),
  transfer: optionalPart('transfer', ({ transfer }) => transfer !== undefined),
} satisfies Readonly<Record<string, OptionalPart<StoreSubject>>>;

export const reopened = ({ reopen }: StoreSubject): Promise<OpenStore> =>
  required(reopen, 'reopen')();

/** The subject's own handle and a further one; the same one twice if the store is not shared. */
export const twoHandles = async (
  subject: StoreSubject,
): Promise<readonly [OpenStore, OpenStore]> => [
  subject,
  subject.another ? await subject.another() : subject,
];

export const anotherHandle = ({ another }: StoreSubject): Promise<OpenStore> =>
  required(another, 'another')();

/**
 * Takes twenty steps, one after another, while four readers call `read` all the time. A handle that renews its snapshot
 * only when nobody reads then never renews it.
 */
export async function besideReads(
  read: () => Promise<unknown>,
  step: (number: number) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const steps = async (): Promise<void> => {
    for (let number = 0; number < 20; number += 1) await step(number);
  };
  const reads = async (reader: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn >= reader) await read(); // not all in the same turns
    }
  };
  await Promise.all([steps().finally(() => over.abort()), ...times(4, reads)]);
}

/**
 * The value, which must be there.
 * @param what for the message of a failure
 */
export function required<Part>(part: Part, what: string): NonNullable<Part> {
  assert.ok(part !== undefined && part !== null, `${what} is missing`);
  return part;
}

/** Adds the animals simultaneously; resolves to them as stored, in ascending order of id. */
export async function addAll(
  pets: PetRepository,
  animals: readonly UnsavedPet[],
): Promise<readonly Pet[]> {
  const added = await Promise.all(animals.map((animal) => pets.add(animal)));
  return added.sort(byId);
}

/** Adds an animal with a claim. */
export function addOnce(
  pets: PetRepository,
  pet: UnsavedPet,
  claiming: Claiming = claimed(),
  call?: CallOptions,
): Promise<CreatedPet> {
  assert.ok(pets.addOnce, 'the store keeps no claims');
  return pets.addOnce(pet, ...claiming, call);
}

/** Adds an animal, with a claim if the store keeps claims. */
export const addClaimed = async (pets: PetRepository, pet: UnsavedPet): Promise<Pet> =>
  pets.addOnce ? (await addOnce(pets, pet)).pet : pets.add(pet);

/** For `sort`. Ids differ. */
export const byId = (one: Pet, other: Pet): number => (one.id < other.id ? -1 : 1);

/** Every animal of a store that holds a few hundred at most. */
export const listAll = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 1000 });
