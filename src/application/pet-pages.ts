import type { CallOptions } from './call-options.js';
import type { PetRepository } from './ports/pet-repository.js';

/** How many animals a page holds. */
const PAGE_SIZE = 1000;

/** Every page of a store, in ascending order of id. */
export async function* petPages(pets: PetRepository, options?: CallOptions) {
  let after: bigint | undefined;
  while (true) {
    const page = await pets.list({ after, limit: PAGE_SIZE }, options);
    const last = page.at(-1)?.id;
    if (last === undefined) return;
    yield page;
    after = last;
  }
}
