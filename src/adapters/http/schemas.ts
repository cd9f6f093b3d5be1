import { Type, type TSchema } from 'typebox';
import { PAGE_LIMIT } from '../../application/create-animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.js';
import { DEFAULT_STATUS, NAME_PATTERN, PET_STATUSES, type PetStatus } from '../../domain/pet.js';
import { IDEMPOTENCY_KEY_PATTERN } from './idempotency-key.js';
import { COMPONENT, KEYWORDS, type Keywords } from './open-api/json-schema.js';

/* The schemas of the interface. They only describe, for the OpenAPI document and for types: the domain judges. */

const described = <T>(keywords: Keywords, component?: string) =>
  Type.Unsafe<T>({ [KEYWORDS]: keywords, ...(component !== undefined && { [COMPONENT]: component }) });

const INT64: Keywords = { type: 'integer', format: 'int64', minimum: INT64_MIN, maximum: INT64_MAX };

const NameSchema = described<string>({
  type: 'string',
  minLength: 1,
  pattern: NAME_PATTERN,
  description:
    "The animal's name: any Unicode text with a character that is not blank (Unicode's White_Space), without U+0000 and lone surrogates. " +
    'Kept exactly as it was given.',
});

const CategoryIdSchema = described<bigint>({
  ...INT64,
  description:
    'Identifier of the category the animal belongs to: any 64-bit integer, exact to the last digit. ' +
    '`7.0` and `7e0` are the integer 7.',
});

/** An availability status of the interface. */
export const PetStatusSchema = described<PetStatus>(
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
export const PetIdSchema = described<bigint>({
  ...INT64,
  description: 'Identifier of the animal, assigned by the service: ascending, never reused.',
});

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
export const PageLimitSchema = described<number>({
  type: 'integer',
  ...PAGE_LIMIT,
});

/** Where a page begins. What is in a cursor is nobody's business but the store's. */
export const CursorSchema = Type.String();

/** The value of an Idempotency-Key header. */
export const IdempotencyKeySchema = Type.String({ pattern: IDEMPOTENCY_KEY_PATTERN });

/** The schemas that the document names. */
export const COMPONENTS: readonly TSchema[] = [
  PetSchema,
  NewPetSchema,
  PetsSchema,
  PetStatusSchema,
  ErrorSchema,
];
