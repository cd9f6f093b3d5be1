import type { CompleteStore, OpenOptions } from '../../../src/application/ports/store.js';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { DAY, claimed } from '../../contract/samples.js';

export const rex: UnsavedPet = Object.freeze({ name: 'Rex', categoryId: 7n, status: 'available' });

/** Adds Rex for a claim that lives for a day, or until `keepUntil`. */
export const addOnce = ({ pets }: CompleteStore, key: string, keepUntil = Date.now() + DAY) =>
  pets.addOnce(rex, ...claimed({ key, keepUntil }));

const opened: CompleteStore[] = [];

/** Opens a store that `closeAll` closes. */
export async function open(url: string, options?: OpenOptions): Promise<CompleteStore> {
  const store = await openMongoStore(url, options);
  opened.push(store);
  return store;
}

export const closeAll = async (): Promise<void> => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
};
