import { Type, type TSchema } from 'typebox';
import { PAGE_LIMIT } from '../../application/create-animal-store.js';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.js';
import { NAME_PATTERN, PET_STATUSES, type PetStatus } from '../../domain/pet.js';
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
    "The animal's name: Unicode text with at least one character that is not White_Space, without U+0000 and lone " +
    'surrogates. Stored exactly as it is.',
  example: 'Bella',
});

const CategoryIdSchema = described<bigint>({
  ...INT64,
  description:
    'Identifier of the category the animal belongs to: any 64-bit integer, exact to the last digit. ' +
    '`7.0` and `7e0` are the integer 7.',
  example: 7n,
});

/** An availability status of the interface. */
export const PetStatusSchema = described<PetStatus>(
  { type: 'string', enum: PET_STATUSES, description: 'Availability of an animal.', example: 'available' },
  'PetStatus',
);

/** NewPet of the interface. Members that it does not name are allowed, and ignored. */
export const NewPetSchema = Type.Object(
  {
    name: NameSchema,
    categoryId: CategoryIdSchema,
    // No `default` keyword: generators would make the member required.
    status: Type.Optional(Type.With(PetStatusSchema, { description: '`available` if omitted.' })),
  },
  {
    [COMPONENT]: 'NewPet',
    description:
      'A new animal. Other members are ignored. Repeated members and nesting deeper than 16 are refused.',
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
  example: 1n,
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
      description: 'Machine-readable error code. Its meaning never changes.',
      example: 'pet_not_found',
    }),
    message: Type.String({
      description: 'Human-readable description. Its wording may change.',
      example: 'No animal has this identifier.',
    }),
    status: Type.Integer({
      format: 'int32',
      minimum: 400,
      maximum: 599,
      description: 'HTTP status code of the response.',
      example: 404,
    }),
  },
  { [COMPONENT]: 'Error', description: 'The body of every error response.' },
);

/** The largest number of animals on a page. */
export const PageLimitSchema = described<number>({ type: 'integer', format: 'int32', ...PAGE_LIMIT });

/** Where a page begins. Opaque. */
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
