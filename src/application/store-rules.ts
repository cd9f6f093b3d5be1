/* The rules of stores that all adapters share. */

import { IdempotencyKeyReusedError, UnavailableError } from '../domain/errors.js';
import { petWithId, type UnsavedPet } from '../domain/pet.js';
import type { CreatedPet, IdempotencyKey } from './animal-store.js';
import type { Claim } from './ports/pet-repository.js';
import { OPEN_MODES, type OpenMode, type OpenOptions } from './ports/store.js';

/**
 * The checked mode: a misspelled `read` must not open the store for writing.
 * @throws {TypeError} no such mode exists
 */
export function openModeOf({ mode = 'create' }: OpenOptions): OpenMode {
  if (OPEN_MODES.includes(mode)) return mode;
  throw new TypeError(`mode must be one of ${OPEN_MODES.join(', ')}`);
}

/**
 * @param doing names the call, as in "adding an animal"
 * @throws {UnavailableError} the store was closed
 */
export function requireOpen(isOpen: boolean, doing: string): void {
  if (!isOpen) throw new UnavailableError(`${doing} after close`);
}

/**
 * @param doing names the write, as in "adding an animal"
 * @throws {UnavailableError} the store is open for reading only
 */
export function requireWritable(mode: OpenMode, doing: string): void {
  if (mode === 'read') throw new UnavailableError(doing, { cause: new Error('opened to read') });
}

/** A text that is different for every pair of scope and key. */
export const claimId = ({ scope, key }: IdempotencyKey): string => JSON.stringify([scope, key]);

/**
 * The result of `addOnce` when a valid claim is stored.
 * @param earlier the fingerprint of that claim, and the id of its animal
 * @throws {IdempotencyKeyReusedError} the fingerprints differ
 */
export function replayOf(
  earlier: { readonly fingerprint: string; readonly petId: bigint },
  pet: UnsavedPet,
  { fingerprint }: Claim,
): CreatedPet {
  if (earlier.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
  return { pet: petWithId(earlier.petId, pet), replayed: true };
}

/** An error that a retry cannot fix. Commands recognise it by `isPermanent`, not by its class. */
export const permanentError = (message: string): Error & { readonly isPermanent: true } =>
  Object.assign(new Error(message), { isPermanent: true } as const);
