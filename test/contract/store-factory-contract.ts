import type { OpenOptions, Store } from '../../src/application/ports/store.js';
import assert from 'node:assert/strict';
import {
  casesOf,
  missingIn,
  optionalPart,
  type Clauses,
  type Contract,
  type ContractCase,
  type Subject,
} from './contract.js';
import { rejectionOf, rejectsWithCode } from './rejection.js';
import { addOnce } from './store-subject.js';
import { samplePet } from './samples.js';

/** A place, such as a URL, where no store exists yet. */
export interface StoreFactorySubject extends Subject {
  /** Opens the store at this place. */
  readonly open: (options?: OpenOptions) => Promise<Pick<Store, 'pets' | 'close'>>;
  /** That of the factory: several processes may use a store. Declare `shared` to the contracts of the store, too. */
  readonly isShared?: boolean | undefined;
}

/** The modes in which no store is created. */
const EXISTING = ['existing', 'read', 'snapshot'] as const;

type Run = ContractCase<StoreFactorySubject>['run'];

const OPENING: Clauses<Run> = {
  async 'rejects where a store must exist and none does, and creates none'({ open }) {
    for (const mode of [...EXISTING, ...EXISTING]) {
      const opening = open({ mode });
      await opening.then((store) => store.close()).catch(() => {});
      const error = await rejectionOf(opening);
      assert.ok(
        error instanceof Error && !error.message.includes('\n'),
        'the message has several lines',
      );
    }
  },
  async 'opens a store that must exist once it holds an animal'({ open }) {
    const created = await open();
    const pet = await created.pets.add(samplePet());
    await created.close();
    for (const mode of EXISTING) {
      const existing = await open({ mode });
      assert.deepEqual(await existing.pets.findById(pet.id), pet, mode);
      await existing.close();
    }
  },
  async 'refuses writes with service_unavailable in an existing store that is only read, and reads on'({
    open,
  }) {
    const created = await open();
    const pet = await created.pets.add(samplePet());
    await created.close();
    for (const mode of ['read', 'snapshot'] as const) {
      const reader = await open({ mode });
      const { pets } = reader;
      await rejectsWithCode(pets.add(samplePet()), 'service_unavailable', mode);
      if (pets.addOnce)
        await rejectsWithCode(addOnce(pets, samplePet()), 'service_unavailable', mode);
      assert.deepEqual(await reader.pets.list({ limit: 5 }), [pet], mode);
      await reader.close();
    }
    const again = await open();
    assert.deepEqual(await again.pets.list({ limit: 5 }), [pet], 'what is stored afterwards');
    await again.close();
  },
};

const SHARING: Clauses<Run> = {
  async 'opens one store for two handles at once'({ open }) {
    const one = await open();
    const other = await open();
    const pet = await one.pets.add(samplePet());
    assert.deepEqual(await other.pets.findById(pet.id), pet);
    await one.close();
    await other.close();
  },
};

const SHARED = optionalPart('isShared', ({ isShared }: StoreFactorySubject) => isShared === true);

const cases = [...casesOf(OPENING), ...casesOf(SHARING, SHARED)];

/** `open` of a store factory, for stores that survive the end of the process. */
export const storeFactoryContract: Contract<StoreFactorySubject> = {
  port: 'StoreFactory',
  lacks: (subject) => missingIn(subject, 'open'),
  cases,
};
