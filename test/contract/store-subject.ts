import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { CompleteStore, Store } from '../../src/application/ports/store.js';
import type { Pet, UnsavedPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, requireMember, type Cases, type SuiteOptions } from './suite.js';

export type PortName = 'pets' | 'changes' | 'apiKeys' | 'transfer';

/** These ports of a store. */
export type Ports<Name extends PortName> = Pick<CompleteStore, Name>;

/** The members of a store that the suites use. Optional ports may be missing. */
type GivenStore = Pick<Store, PortName | 'check' | 'close'>;

/** The same with every port: a case whose port is missing is skipped, or fails before it runs. */
type TestedStore = Pick<CompleteStore, keyof GivenStore>;

/** How a case reopens, shares and closes what is tested. */
export interface StoreControls<Tested> {
  /** Closes the store, then opens the same data. Durable stores only. */
  readonly reopen?: (() => Promise<Tested & Closable>) | undefined;
  /** Opens the same data a second time, as another process does. */
  readonly another?: (() => Promise<Tested & Closable>) | undefined;
  /** Closes the store, and removes its data. The suite closes the handles of `reopen` and `another` first. */
  readonly close: () => Promise<void>;
}

type Closable = Partial<Pick<Store, 'close'>>;

/** What `open` resolves to: the store or port under test, alone or as `store`, with its controls. */
export type Opened<Tested> = (Tested | { readonly store: Tested }) & StoreControls<Tested>;

/** What `storeTests` gets. */
export type StoreSuite = SuiteOptions<Opened<GivenStore>>;

/** What the suite of a port gets: the ports of a store, or for some suites the port itself. */
export type PortSuite<Port = never> = SuiteOptions<Opened<Partial<Pick<Store, PortName>> | Port>>;

/** What the cases of a store get. Where `without` names `reopen` or `another`, those resolve to the same store. */
export interface StoreSubject extends Ports<PortName> {
  readonly store: TestedStore;
  readonly reopen: () => Promise<TestedStore>;
  readonly another: () => Promise<TestedStore>;
  readonly close: () => Promise<void>;
}

/** The cases of a suite on a store, or on this port of it. */
export const storeCases = (
  suite: SuiteOptions<Opened<object>>,
  port: PortName = 'pets',
): Cases<StoreSubject> => casesOf({ ...suite, open: () => openSubject(suite, port) });

async function openSubject(
  { open, without = [] }: SuiteOptions<Opened<object>>,
  port: PortName,
): Promise<StoreSubject> {
  const opened = await open();
  const store = storeOf(opened, port);
  const reopened: Closable[] = [];
  const opener = (name: 'reopen' | 'another') => async () => {
    if (opened[name] === undefined && without.includes(name)) return store;
    requireMember(opened[name], name);
    const handle = await opened[name]();
    reopened.push(handle);
    return storeOf(handle, port);
  };
  const { pets, changes, apiKeys, transfer } = store;
  return {
    store,
    pets,
    changes,
    apiKeys,
    transfer,
    reopen: opener('reopen'),
    another: opener('another'),
    async close() {
      try {
        for (const handle of reopened) await handle.close?.();
      } finally {
        await opened.close();
      }
    },
  };
}

/** The store that a suite of this port tests: it may have been given the port alone. */
function storeOf(opened: object, port: PortName): TestedStore {
  const { store = opened } = opened as { readonly store?: object };
  return (port in store ? store : { [port]: store }) as TestedStore;
}

/** Adds the animals simultaneously; resolves to them as stored, in ascending order of id. */
export async function addAll(
  pets: PetRepository,
  animals: readonly UnsavedPet[],
): Promise<readonly Pet[]> {
  const added = await Promise.all(animals.map((animal) => pets.add(animal)));
  return added.sort(byId);
}

/** For `sort`. Ids differ. */
export const byId = (one: Pet, other: Pet): number => (one.id < other.id ? -1 : 1);

/** Every animal of a store that holds a few hundred at most. */
export const listAll = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 1000 });

/** Checks every way of reading. */
export async function checkReads(
  pets: PetRepository,
  stored: readonly Pet[],
  removed: readonly Pet[] = [],
): Promise<void> {
  assert.deepEqual(await listAll(pets), stored, 'the list of all');
  for (const status of PET_STATUSES) {
    const expected = stored.filter((pet) => pet.status === status);
    assert.deepEqual(await pets.list({ limit: 1000, status }), expected, `what is ${status}`);
  }
  for (const pet of stored) assert.deepEqual(await pets.findById(pet.id), pet);
  for (const { id } of removed) assert.equal(await pets.findById(id), undefined, `removed: ${id}`);
}
