import { InvalidParameterError, type Fault } from '../domain/errors.js';
import { unsavedPet, type NewPet, type UnsavedPet } from '../domain/pet.js';
import type { CreateCall, CreatedPet, RequestToken } from './animal-store.js';
import type { Clock } from './ports/clock.js';
import type { Claim, PetRepository } from './ports/pet-repository.js';

/** How long a request token is remembered, in milliseconds: 24 hours. */
const CLAIM_LIFETIME = 24 * 60 * 60 * 1000;

export const createPet =
  (pets: PetRepository, clock: Clock) =>
  async (pet: NewPet, { request, signal }: CreateCall = {}): Promise<CreatedPet> => {
    const unsaved = unsavedPet(pet);
    const claim = request === undefined ? undefined : await claimFor(request, unsaved, clock.now());
    signal?.throwIfAborted();
    return pets.add(unsaved, { claim, signal });
  };

async function claimFor({ scope, token }: RequestToken, pet: UnsavedPet, now: Date): Promise<Claim> {
  const faults: Fault[] = Object.entries({ scope, token })
    .filter(([, text]) => !isName(text))
    .map(([field]) => ({ field: `request.${field}`, message: 'must have 1 to 255 characters of Unicode' }));
  if (faults.length > 0) throw new InvalidParameterError(faults);
  return {
    scope,
    token,
    fingerprint: await fingerprint(pet),
    now,
    keepUntil: new Date(now.getTime() + CLAIM_LIFETIME),
  };
}

/** Two texts that differ in a lone surrogate only would be one to a store that writes UTF-8. */
const isName = (text: unknown): boolean =>
  typeof text === 'string' && text.length >= 1 && text.length <= 255 && text.isWellFormed();

/** SHA-256 of the animal's canonical text, in hexadecimal: the same for the same animal however it was written. */
async function fingerprint({ name, categoryId, status }: UnsavedPet): Promise<string> {
  const canonical = new TextEncoder().encode(JSON.stringify([name, String(categoryId), status]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', canonical));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
