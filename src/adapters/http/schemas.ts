import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { PAGE_LIMIT, limitAndStatusFaults } from '../../application/create-animal-store.js';
import type { Fault } from '../../domain/errors.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../../domain/int64.js';
import { PET_STATUSES, type PetStatus } from '../../domain/pet.js';
import { DEFAULT_STATUS, NAME_PATTERN, PET_RULES } from '../../domain/pet.js';
import { IDEMPOTENCY_KEY_PATTERN } from './request/idempotency-key.js';
import { COMPONENT, KEYWORDS, type Keywords } from './open-api/json-schema.js';

/*
 * The interface's schemas, each of them for two: requests are judged by it, and the OpenAPI document prints it.
 * A rule of the domain stays the domain's, its message too; the keywords beside it say the same to others.
 */

const ruled = <T>(fault: (value: unknown) => string | undefined, keywords: Keywords, component?: string) =>
  Type.Refine(
    Type.Unsafe<T>({ [KEYWORDS]: keywords, ...(component !== undefined && { [COMPONENT]: component }) }),
    (value) => fault(value) === undefined,
    (value) => fault(value) ?? '',
  );

const INT64: Keywords = { type: 'integer', format: 'int64', minimum: INT64_MIN, maximum: INT64_MAX };

const NameSchema = ruled<string>(PET_RULES.name, {
  type: 'string',
  minLength: 1,
  pattern: NAME_PATTERN,
  description:
    "The animal's name: any Unicode text with a character that is not blank (Unicode's White_Space), without U+0000 and lone surrogates. " +
    'Kept exactly as it was given.',
});

const CategoryIdSchema = ruled<bigint>(PET_RULES.categoryId, {
  ...INT64,
  description:
    'Identifier of the category the animal belongs to: any 64-bit integer, exact to the last digit. ' +
    '`7.0` and `7e0` are the integer 7.',
});

/** An availability status of the interface. */
export const PetStatusSchema = ruled<PetStatus>(
  PET_RULES.status,
  { type: 'string', enum: PET_STATUSES, description: "An animal's availability." },
  'PetStatus',
);

/** NewPet of the interface. Members that it does not name are allowed, and ignored. */
export const NewPetSchema = Type.Object(
  {
    name: NameSchema,
    categoryId: CategoryIdSchema,
    status: Type.Optional(
      Type.With(PetStatusSchema, { default: DEFAULT_STATUS, description: 'Availability status.' }),
    ),
  },
  {
    [COMPONENT]: 'NewPet',
    description:
      'An animal to be added. Members other than these are ignored. A member given twice, or nesting deeper ' +
      'than 16, is refused.',
    examples: [
      { name: 'Bella', categoryId: 1n },
      { name: 'Milo', categoryId: INT64_MAX, status: 'pending' },
    ],
  },
);

/** An identifier of an animal. */
export const PetIdSchema = ruled<bigint>(
  (id) => (isInt64(id) ? undefined : `must be an integer from ${INT64_MIN} to ${INT64_MAX}`),
  { ...INT64, description: 'Identifier of the animal, assigned by the service: ascending, never reused.' },
);

/** Pet of the interface, read with exact integers. */
export const PetSchema = Type.Object(
  {
    id: PetIdSchema,
    name: NameSchema,
    categoryId: CategoryIdSchema,
    status: Type.Optional(Type.With(PetStatusSchema, { description: 'Availability status.' })),
  },
  {
    [COMPONENT]: 'Pet',
    description: 'An animal of the store.',
    examples: [{ id: 1n, name: 'Bella', categoryId: INT64_MAX, status: 'available' }],
  },
);

/** Pets of the interface. */
export const PetsSchema = Type.Array(PetSchema, {
  [COMPONENT]: 'Pets',
  description: 'Animals, in ascending order of `id`.',
  maxItems: PAGE_LIMIT.maximum,
});

/** Error of the interface. */
export const ErrorSchema = Type.Object(
  {
    code: Type.String({
      description: 'Machine-readable error code; a published one never changes its meaning.',
    }),
    message: Type.String({ description: 'Human-readable description. Its wording may change.' }),
    status: Type.Integer({
      minimum: 400,
      maximum: 599,
      description: 'The HTTP status code of the response.',
    }),
  },
  { [COMPONENT]: 'Error', description: 'What went wrong.' },
);

/** How many animals a page holds. */
export const PageLimitSchema = ruled<number>((limit) => limitAndStatusFaults({ limit })[0]?.message, {
  type: 'integer',
  ...PAGE_LIMIT,
});

/** Where a page begins. What is in a cursor is nobody's business but the store's. */
export const CursorSchema = Type.String();

/** The value of an Idempotency-Key header. */
export const IdempotencyKeySchema = Type.String({ pattern: IDEMPOTENCY_KEY_PATTERN });

const newPet = Compile(NewPetSchema);

/** Whether a value read from JSON is a NewPet. */
export const isNewPet = (value: object): value is Type.Static<typeof NewPetSchema> => newPet.Check(value);

/** Every rule of NewPet that the value breaks, field by field; for one that `isNewPet` refused. */
export function newPetFaults(value: object): Fault[] {
  const faults: Fault[] = [];
  for (const error of newPet.Errors(value)) {
    if (error.keyword === 'required') {
      for (const field of error.params.requiredProperties) faults.push({ field, message: 'is required' });
    } else {
      faults.push({ field: error.instancePath.slice(1), message: error.message });
    }
  }
  return faults;
}

/** The schemas that the document names. */
export const COMPONENTS: readonly TSchema[] = [
  PetSchema,
  NewPetSchema,
  PetsSchema,
  PetStatusSchema,
  ErrorSchema,
];
