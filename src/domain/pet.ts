import { InvalidPetError, type Fault } from './errors.js';
import { INT64_MAX, INT64_MIN, toInt64 } from './int64.js';
import { DEFAULT_STATUS, PET_STATUSES, isPetStatus, type PetStatus } from './pet-status.js';
import { isBlank, isLongerThan, storedTextFault } from './text.js';

/** The greatest id that an animal can bring from elsewhere. It leaves 2^32 ids for new animals. */
export const MAX_GIVEN_ID = INT64_MAX - 2n ** 32n;

/** An animal of the store. Always valid, and frozen. */
export interface Pet {
  /**
   * Assigned by the store on creation: positive, unique, never assigned again. Only an import that keeps ids brings back
   * the id of a removed animal. Lists are in ascending order of id.
   */
  readonly id: bigint;
  /** Unicode text that is not blank, exactly as it was given. */
  readonly name: string;
  /** The category that the animal belongs to: any int64. */
  readonly categoryId: bigint;
  /** Availability. */
  readonly status: PetStatus;
}

/** What a caller gives to add an animal. */
export interface NewPet {
  /** Unicode text of at most 1,000 code points that is not blank, without U+0000 and lone surrogates. Stored as it is. */
  readonly name: string;
  /** Any int64. A number must be a safe integer. */
  readonly categoryId: bigint | number;
  /** Default: `available`. */
  readonly status?: PetStatus | undefined;
}

/** A valid animal without an identifier. Frozen. */
export type UnsavedPet = Omit<Pet, 'id'>;

/** What `satisfies` this names each field, also optional ones. So the compiler names each place that lacks a new one. */
type EveryField = Readonly<Record<keyof UnsavedPet, unknown>>;

/** The length of the longest name, in Unicode code points. */
export const MAX_NAME_LENGTH = 1000;

/** Fields as they were given, unchecked. */
type GivenFields = { readonly [Field in keyof NewPet]?: unknown };

/** For each field, the rule that a value breaks, as the end of a sentence that begins with the field's name. */
type PetRules = Readonly<Record<keyof UnsavedPet, (value: unknown) => string | undefined>>;

/**
 * The rules for every animal. Each must refuse the empty text: some formats write it for an omitted field.
 * Append new fields at the end: stores keep texts of an animal that depend on the order, to recognise it.
 */
export const PET_RULES = {
  name: (name) => {
    if (typeof name !== 'string') return 'must be a string';
    if (isLongerThan(name, MAX_NAME_LENGTH))
      return `must not be longer than ${MAX_NAME_LENGTH} characters`;
    if (isBlank(name)) return 'must not be blank';
    return storedTextFault(name);
  },
  categoryId: (categoryId) => {
    if (toInt64(categoryId) !== undefined) return undefined;
    // Only programs give numbers: in data from outside, integers are bigints.
    if (Number.isInteger(categoryId)) return 'must be a bigint, or a number that is a safe integer';
    return `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
  },
  status: (status) =>
    isPetStatus(status) ? undefined : `must be one of ${PET_STATUSES.join(', ')}`,
} as const satisfies PetRules;

/** Every field of an animal but its id, in the order of `PET_RULES`. */
export const PET_FIELDS = Object.keys(PET_RULES) as ReadonlyArray<keyof UnsavedPet>;

/** Every rule that an object breaks as a new animal, in the order of the fields. Other fields are ignored. */
export function newPetFaults(pet: GivenFields): Fault[] {
  const { status = DEFAULT_STATUS } = pet;
  return brokenRules({ ...pet, status });
}

/** Every rule that an object breaks as a change of an animal, in the order of the fields. Other fields are ignored. */
export function changeFaults(change: GivenFields): Fault[] {
  const given = PET_FIELDS.filter((field) => change[field] !== undefined);
  if (given.length > 0) return brokenRules(change, given);
  return [{ field: '', message: `it must have at least one of ${PET_FIELDS.join(', ')}` }];
}

function brokenRules(given: GivenFields, fields = PET_FIELDS): Fault[] {
  return fields.flatMap((field) => {
    const value = given[field];
    const message = PET_RULES[field](value);
    if (message === undefined) return [];
    return [{ field, message: value === undefined ? 'is required' : message }];
  });
}

/**
 * Checks a new animal by every rule and fills in the default status.
 * @throws {InvalidPetError} naming every fault. Types are checked too, for callers without a compiler.
 */
export function unsavedPet(pet: NewPet): UnsavedPet {
  const { name, categoryId, status = DEFAULT_STATUS } = readFields(pet);
  const fields = { name, categoryId, status } satisfies EveryField;
  requireNoFaults(newPetFaults(fields));
  return Object.freeze(fields) as UnsavedPet;
}

/**
 * Checks a change by every rule. Returns the fields that it has, frozen: at least one. `undefined` is none.
 * @throws {InvalidPetError} naming every fault. Types are checked too, for callers without a compiler.
 */
export function petChange(change: Partial<NewPet>): Partial<UnsavedPet> {
  const given = Object.entries(readFields(change)).filter(([, value]) => value !== undefined);
  const fields = Object.fromEntries(given);
  requireNoFaults(changeFaults(fields));
  return Object.freeze(fields);
}

/**
 * Reads each field once, because a getter could return something else after the check. Turns safe integers into bigints.
 * @throws {InvalidPetError} it is no object.
 */
function readFields(given: GivenFields): GivenFields {
  if (Object(given) !== given)
    throw new InvalidPetError([{ field: '', message: 'it must be an object' }]);
  const { name, categoryId, status } = given;
  return { name, categoryId: toInt64(categoryId) ?? categoryId, status } satisfies EveryField;
}

function requireNoFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new InvalidPetError(faults);
}

/** The animal that a store keeps under `id`: a frozen copy. */
export const petWithId = (id: bigint, { name, categoryId, status }: UnsavedPet): Pet =>
  Object.freeze({ id, name, categoryId, status } satisfies Record<keyof Pet, unknown>);

/**
 * The animal in data from outside, such as a database document. Integers may be bigints or safe numbers.
 * @throws {InvalidPetError} naming every fault.
 */
export function petFrom(data: { readonly [Field in keyof Pet]?: unknown }): Pet {
  const fields = readFields(data);
  const id = toInt64(data.id);
  const faults = brokenRules(fields);
  if (id === undefined) faults.unshift({ field: 'id', message: 'must be an int64' });
  requireNoFaults(faults);
  return Object.freeze({ id, ...fields }) as Pet;
}

/** Whether two animals are the same in every field. */
export const isSamePet = (one: Pet, other: Pet): boolean =>
  one.id === other.id && PET_FIELDS.every((field) => one[field] === other[field]);
