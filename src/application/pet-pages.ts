import type { Pet } from '../domain/pet.js';
import type { CallOptions } from './animal-store.js';
import type { PetRepository } from './ports/pet-repository.js';

/**
 * Checks that a page begins after the id `after`.
 * @throws {TypeError} it does not, so that following the pages would never end
 */
export function requireProgress(
  page: ReadonlyArray<Pick<Pet, 'id'>>,
  after: bigint | undefined,
): void {
  const [first] = page;
  if (first === undefined || after === undefined || first.id > after) return;
  throw new TypeError(`The page after ${after} begins with ${first.id}: it makes no progress.`);
}

/** Every page of a store, in ascending order of id. */
export async function* petPages(
  pets: PetRepository,
  limit: number,
  options: CallOptions,
): AsyncGenerator<readonly Pet[]> {
  let after: bigint | undefined;
  for (;;) {
    const page = await pets.list({ after, limit }, options);
    requireProgress(page, after);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)?.id;
  }
}
