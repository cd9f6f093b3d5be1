import { InvalidPetError, StatusConflictError, type Fault } from './errors.js';
import { INT64_MAX, INT64_MIN, INT64_RULE, toInt64 } from './int64.js';
import { DEFAULT_STATUS, petStatusFault, type PetStatus } from './pet-status.js';
import { isBlank, isLongerThan, textFault } from './text.js';

/** An animal of the store. Always valid, and frozen. */
export interface Pet {
  /**
   * Assigned by the store on creation: positive, unique, never assigned again, except by a store that was restored from
   * an older backup. Lists are in ascending order of id.
   */
  readonly id: bigint;
  /** Unicode text, exactly as given. */
  readonly name: string;
  /** The category that the animal belongs to: any int64. */
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** What a caller gives to add an animal. */
export interface NewPet {
  /**
   * Unicode text of at most 1,000 code points that is not blank, without U+0000 and lone surrogates. Kept
   * exactly as given.
   */
  readonly name: string;
  /** Any int64. A number must be a safe integer. */
  readonly categoryId: bigint | number;
  /** Default: `available`. */
  readonly status?: PetStatus | undefined;
}

/** A valid animal without an identifier. Frozen. */
export type UnsavedPet = Omit<Pet, 'id'>;

/** The length of the longest name, in Unicode code points. */
export const MAX_NAME_LENGTH = 1000;

/**
 * For each field, the rule that a value breaks, or `undefined`. Values may have any type: adapters pass on what they
 * read.
 */
const RULES = {
  name(name: unknown) {
    if (typeof name !== 'string') return 'must be a string';
    if (isBlank(name)) return 'must not be blank';
    if (isLongerThan(name, MAX_NAME_LENGTH))
      return `must not be longer than ${MAX_NAME_LENGTH} characters`;
    return textFault(name);
  },
  categoryId(categoryId: unknown) {
    if (toInt64(categoryId) !== undefined) return undefined;
    const rule = `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
    return Number.isInteger(categoryId) ? `${rule}: this number is too large to be exact` : rule;
  },
  status: petStatusFault,
};

/** Every field of an animal but its id. */
export const PET_FIELDS = Object.keys(RULES) as ReadonlyArray<keyof UnsavedPet>;

/**
 * The checked animal, with the default status filled in. Other members are ignored.
 * @throws {InvalidPetError} naming every fault
 */
export function unsavedPet(given: NewPet): UnsavedPet {
  const { name, categoryId, status = DEFAULT_STATUS } = requireObject(given);
  return checked({ name, categoryId: bigintIfSafe(categoryId), status });
}

/**
 * The checked fields of a change, at least one. A field that is `undefined` counts as omitted.
 * @throws {InvalidPetError} naming every fault
 */
export function petChange(given: Partial<NewPet>): Partial<UnsavedPet> {
  const { name, categoryId, status } = requireObject(given);
  const change = {
    ...(name !== undefined && { name }),
    ...(categoryId !== undefined && { categoryId: bigintIfSafe(categoryId) }),
    ...(status !== undefined && { status }),
  };
  if (Object.keys(change).length === 0)
    throw invalidPet('', `it must have at least one of ${PET_FIELDS.join(', ')}`);
  return checked(change);
}

/**
 * Reads an animal from unchecked data, such as a database document. Integers may be bigints or safe numbers.
 * @throws {InvalidPetError} the data is not a valid animal
 */
export function petFrom(data: { readonly [Field in keyof Pet]?: unknown }): Pet {
  const { name, categoryId, status } = data;
  const id = toInt64(data.id);
  if (id === undefined) throw invalidPet('id', INT64_RULE);
  return petWithId(id, checked({ name, categoryId: bigintIfSafe(categoryId), status }));
}

/** The animal that a store keeps under `id`: a frozen copy. */
export const petWithId = (id: bigint, { name, categoryId, status }: UnsavedPet): Pet =>
  Object.freeze({ id, name, categoryId, status });

/** @throws {StatusConflictError} the animal has another status than `from`; `undefined` allows any */
export function requireStatus({ status }: Pet, from: PetStatus | undefined): void {
  if (from !== undefined && status !== from) throw new StatusConflictError(status);
}

/** A text for comparing animals: equal exactly if name, category and status are. */
export const fingerprintOf = ({ name, categoryId, status }: UnsavedPet): string =>
  JSON.stringify([name, String(categoryId), status]);

/** A safe number as a bigint. Any other value stays as it is, for `checked` to refuse. */
const bigintIfSafe = (value: unknown): unknown => toInt64(value) ?? value;

/**
 * Checks the fields that are there, `undefined` ones too, and freezes them.
 * @throws {InvalidPetError} naming every field that breaks its rule or is `undefined`
 */
function checked<Field extends keyof UnsavedPet>(fields: {
  readonly [Each in Field]?: unknown;
}): Pick<UnsavedPet, Field> {
  const faults = Object.entries(fields).flatMap(([field, value]): Fault[] => {
    const message = value === undefined ? 'is required' : RULES[field as keyof UnsavedPet](value);
    return message === undefined ? [] : [{ field, message }];
  });
  if (faults.length > 0) throw new InvalidPetError(faults);
  return Object.freeze(fields) as Pick<UnsavedPet, Field>;
}

function requireObject<Given extends object>(given: Given): Given {
  if (Object(given) === given) return given;
  throw invalidPet('', 'it must be an object');
}

const invalidPet = (field: string, message: string): InvalidPetError =>
  new InvalidPetError([{ field, message }]);
