import type { Pet } from '../domain/pet.js';
import type { Call } from './call.js';
import type { CatalogueTransfer, KeptClaim } from './ports/catalogue-transfer.js';

/** All animals with an id greater than `after`, ascending by id, `limit` at once. */
export async function* petBatches(
  from: CatalogueTransfer,
  limit: number,
  call: Call,
  after = 0n,
): AsyncGenerator<readonly Pet[]> {
  for (;;) {
    const batch = await from.readPets({ after, limit }, call);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    after = last.id;
  }
}

/** All claims that are live at `now`, `limit` at once. */
export async function* claimBatches(
  from: CatalogueTransfer,
  limit: number,
  call: Call,
  now: Date,
): AsyncGenerator<readonly KeptClaim[]> {
  let after: KeptClaim | undefined;
  for (;;) {
    const batch = await from.readClaims({ after, limit, now }, call);
    after = batch.at(-1);
    if (after === undefined) return;
    yield batch;
  }
}
