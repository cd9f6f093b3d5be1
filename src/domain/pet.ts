import { InvalidPetError, type Fault } from './errors.js';
import { INT64_MAX, INT64_MIN, toInt64 } from './int64.js';
import { DEFAULT_STATUS, PET_STATUSES, isPetStatus, type PetStatus } from './pet-status.js';

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

/** Valid new values of at least one field. The other fields are absent. Frozen. */
export type PetChange = Partial<UnsavedPet>;

/** What `satisfies` this names each field, also optional ones. So the compiler names each place that lacks a new one. */
type EveryField = Readonly<Record<keyof UnsavedPet, unknown>>;

const BLANK = /^\p{White_Space}*$/u;

/** The length of the longest name that can be given to a new animal, in Unicode code points. */
export const MAX_NAME_LENGTH = 1000;

/**
 * For each field that a caller gives, the rule that a value breaks, as the end of a sentence that begins with the name.
 * Each must refuse the empty text: CSV cannot tell it from none. Append a new field: fingerprints depend on the order.
 */
export const PET_RULES = {
  name: (name) => {
    if (typeof name !== 'string') return 'must be a string';
    if (BLANK.test(name)) return 'must not be blank';
    // Stores cut text at U+0000 and replace lone surrogates.
    if (name.includes('\0')) return 'must not contain U+0000';
    if (!name.isWellFormed()) return 'must not contain lone surrogates';
    return undefined;
  },
  categoryId: (categoryId) => {
    if (toInt64(categoryId) !== undefined) return undefined;
    // Only from programs: over HTTP and from files integers are bigints.
    if (Number.isInteger(categoryId)) return 'must be a bigint, or a number that is a safe integer';
    return `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
  },
  status: (status) =>
    isPetStatus(status) ? undefined : `must be one of ${PET_STATUSES.join(', ')}`,
} as const satisfies Readonly<Record<keyof UnsavedPet, (value: unknown) => string | undefined>>;

/** The names of the fields that a caller gives. */
export const NEW_PET_FIELDS = Object.keys(PET_RULES) as ReadonlyArray<keyof UnsavedPet>;

/** Every rule that an object breaks as a new animal, in the order of the fields. Other fields are ignored. */
export function newPetFaults(pet: { readonly [Field in keyof NewPet]?: unknown }): Fault[] {
  const { name, status = DEFAULT_STATUS } = pet;
  return [...lengthFaults(name), ...petFaults({ ...pet, status })];
}

/** Every rule that an object breaks as a change of an animal, in the order of the fields. Other fields are ignored. */
export function changeFaults(change: { readonly [Field in keyof NewPet]?: unknown }): Fault[] {
  const given = NEW_PET_FIELDS.filter((field) => change[field] !== undefined);
  if (given.length === 0)
    return [{ field: '', message: `it must have at least one of ${NEW_PET_FIELDS.join(', ')}` }];
  return [
    ...lengthFaults(change.name),
    ...given.flatMap((field) => fieldFaults(field, change[field])),
  ];
}

function lengthFaults(name: unknown): Fault[] {
  // Of a long text no more is counted than necessary.
  const counted = typeof name === 'string' ? name.slice(0, 2 * MAX_NAME_LENGTH + 1) : '';
  if (counted.length <= MAX_NAME_LENGTH || Array.from(counted).length <= MAX_NAME_LENGTH) return [];
  return [{ field: 'name', message: `must not be longer than ${MAX_NAME_LENGTH} characters` }];
}

/** Every rule that an animal breaks, new or stored: stores of older versions may hold longer names. */
function petFaults(pet: { readonly [Field in keyof NewPet]?: unknown }): Fault[] {
  return NEW_PET_FIELDS.flatMap((field) => fieldFaults(field, pet[field]));
}

function fieldFaults(field: keyof UnsavedPet, value: unknown): Fault[] {
  const message = PET_RULES[field](value);
  if (message === undefined) return [];
  return [{ field, message: value === undefined ? 'is required' : message }];
}

/**
 * Checks a new animal by every rule and fills in the default status.
 * @throws {InvalidPetError} naming every fault. Types are checked too, for callers without a compiler.
 */
export function unsavedPet(pet: NewPet): UnsavedPet {
  return checkedPet(pet, newPetFaults);
}

/**
 * Checks a change by every rule. Fields that are `undefined` stay as they are.
 * @throws {InvalidPetError} naming every fault. Types are checked too, for callers without a compiler.
 */
export function petChange(change: Partial<NewPet>): PetChange {
  const { name, categoryId, status } = checkedFields(change, changeFaults);
  const fields = {
    name,
    categoryId: categoryId === undefined ? undefined : BigInt(categoryId),
    status,
  } satisfies EveryField;
  return Object.freeze(withoutUndefined(fields));
}

function withoutUndefined<Fields extends object>(fields: Fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Field in keyof Fields]?: NonNullable<Fields[Field]> };
}

function checkedPet(pet: NewPet, faultsOf: typeof petFaults): UnsavedPet {
  const { name, categoryId, status = DEFAULT_STATUS } = checkedFields(pet, faultsOf);
  const fields = { name, categoryId: BigInt(categoryId), status } satisfies EveryField;
  return Object.freeze(fields);
}

function checkedFields<Fields extends Partial<NewPet>>(
  given: Fields,
  faultsOf: typeof petFaults,
): Pick<Fields, keyof NewPet> {
  if (Object(given) !== given)
    throw new InvalidPetError([{ field: '', message: 'it must be an object' }]);
  // Each field is read once: a getter could return something else after the check.
  const { name, categoryId, status } = given;
  const fields = { name, categoryId, status } satisfies EveryField;
  const faults = faultsOf(fields);
  if (faults.length > 0) throw new InvalidPetError(faults);
  return fields as Pick<Fields, keyof NewPet>;
}

/** The animal that a store keeps under `id`: a frozen copy. */
export const petWithId = (id: bigint, { name, categoryId, status }: UnsavedPet): Pet =>
  Object.freeze({ id, name, categoryId, status } satisfies Record<keyof Pet, unknown>);

/**
 * The animal in data from outside, such as a database document. Integers may be bigints or safe numbers.
 * @throws {InvalidPetError} naming every fault.
 */
export function petFrom(data: { readonly [Field in keyof Pet]?: unknown }): Pet {
  const id = toInt64(data.id);
  const faults = id === undefined ? [{ field: 'id', message: 'must be an int64' }] : [];
  const pet = checkedPet(data as NewPet, (fields) => faults.concat(petFaults(fields)));
  return petWithId(id as bigint, pet); // or it was a fault
}

/** Whether two animals are the same in every field. */
export const isSamePet = (one: Pet, other: Pet): boolean =>
  one.id === other.id && NEW_PET_FIELDS.every((field) => one[field] === other[field]);
