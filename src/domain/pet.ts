import { InvalidPetError, type Fault } from './errors.js';
import { INT64_MAX, INT64_MIN, toInt64 } from './int64.js';
import { PET_STATUSES, isPetStatus, type PetStatus } from './pet-status.js';

/** An animal of the store. Always valid, and frozen. */
export interface Pet {
  /** Assigned by the store on creation: unique, never reused, ascending in the order of a list. */
  readonly id: bigint;
  /** Any Unicode text that is not blank, exactly as it was given. */
  readonly name: string;
  /** The category that the animal belongs to: any int64. */
  readonly categoryId: bigint;
  /** Its availability. Given when it was added, or `available`. */
  readonly status: PetStatus;
}

/** What a caller gives to add an animal. */
export interface NewPet {
  /** Any Unicode text that is not blank; without U+0000 and lone surrogates. Kept exactly as it is. */
  readonly name: string;
  /** Any int64; as a number a safe integer only. */
  readonly categoryId: bigint | number;
  /** `available` when left out. */
  readonly status?: PetStatus | undefined;
}

/** A valid animal that has no identifier yet. Frozen. */
export type UnsavedPet = Omit<Pet, 'id'>;

/** What an animal's status is when none is given: every animal has one, so that a filter can find it. */
export const DEFAULT_STATUS: PetStatus = 'available';

/** Unicode's White_Space property, for a character class: spelled out because `\s` is another set, in every language. */
const WHITE_SPACE = String.raw`\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;

const BLANK = new RegExp(`^[${WHITE_SPACE}]*$`, 'u');

/**
 * What a name matches, as a regular expression for any language: some character that is not blank, and no
 * U+0000. It reads a text once. Lone surrogates it cannot name: to most languages they are no characters.
 */
export const NAME_PATTERN = String.raw`^[${WHITE_SPACE}]*[^\u0000${WHITE_SPACE}][^\u0000]*$`;

/**
 * The rule that `name` breaks, or `undefined`. Blank means only characters with Unicode's White_Space
 * property. U+0000 and lone surrogates are refused because stores cut or replace them.
 */
export function nameFault(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be a string';
  if (BLANK.test(name)) return 'must not be blank';
  if (name.includes('\0')) return 'must not contain U+0000';
  if (!name.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}

/** The rule that `categoryId` breaks, or `undefined`. */
export const categoryIdFault = (categoryId: unknown): string | undefined =>
  toInt64(categoryId) === undefined ? `must be an integer from ${INT64_MIN} to ${INT64_MAX}` : undefined;

/** The rule that `status` breaks, or `undefined`. Leaving it out breaks none. */
export const statusFault = (status: unknown): string | undefined =>
  status === undefined || isPetStatus(status) ? undefined : `must be one of ${PET_STATUSES.join(', ')}`;

/**
 * Checks a new animal by every rule and fills in what may be left out.
 * @throws {InvalidPetError} naming every fault; types are checked too, for callers without a compiler.
 */
export function unsavedPet(pet: NewPet): UnsavedPet {
  if (typeof pet !== 'object' || pet === null) {
    throw new InvalidPetError([{ field: '', message: 'it must be an object' }]);
  }
  const { name, categoryId, status } = pet;
  const faults: Fault[] = [];
  const note = (field: string, value: unknown, message: string | undefined): void => {
    if (message !== undefined) faults.push({ field, message: value === undefined ? 'is required' : message });
  };
  note('name', name, nameFault(name));
  note('categoryId', categoryId, categoryIdFault(categoryId));
  note('status', status, statusFault(status));
  if (faults.length > 0) throw new InvalidPetError(faults);
  return Object.freeze({ name, categoryId: BigInt(categoryId), status: status ?? DEFAULT_STATUS });
}

/** The animal that a store keeps under `id`: a frozen copy, sharing nothing with what was given. */
export const savedPet = (id: bigint, { name, categoryId, status }: UnsavedPet): Pet =>
  Object.freeze({ id, name, categoryId, status });
