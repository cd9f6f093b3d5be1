import { Type, type Static, type TSchemaOptions } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ChangeOptions, PetQuery } from '../../application/animal-store.js';
import { PAGE_LIMIT } from '../../application/call-rules.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../../domain/int64.js';
import {
  MAX_NAME_LENGTH,
  type NewPet as GivenPet,
  type Pet as StoredPet,
} from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { ERRORS } from './error-codes.js';

/*
 * The schemas of the interface: the OpenAPI document shows them, and bodies and queries are checked by them before the
 * domain checks its own rules.
 */

/**
 * A 64-bit integer. In the document it is an `integer`, because JSON has no bigint. It checks the bounds a second time,
 * because compiled checks round them: theirs lets 2^63 pass.
 */
const int64 = (options: TSchemaOptions = {}) =>
  Type.Refine(
    Type.BigInt({ format: 'int64', minimum: INT64_MIN, maximum: INT64_MAX, ...options }),
    isInt64,
  );

export const PetId = int64({
  description: 'Identifier of the animal, assigned by the service: ascending, never reused.',
  example: 1n,
});

const PetStatus = Type.Enum(PET_STATUSES, {
  type: 'string',
  description: 'Availability of an animal.',
  example: 'available',
});

/** What references refer to, for checks. */
const REFERRED = { '#/components/schemas/PetStatus': PetStatus };

const statusReference = (options?: TSchemaOptions) =>
  Type.Ref('#/components/schemas/PetStatus', options);

const Name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  // In ASCII and without \s and \u, because generators copy it into source text of any language. So it is looser than
  // the rule, for names of rare blanks alone, such as U+3000, and for lone surrogates, which most languages lack.
  pattern: String.raw`^[\x09-\x0d ]*[^\x00\x09-\x0d ][^\x00]*$`,
  description:
    "The animal's name: Unicode text with at least one character that is not White_Space, " +
    'without U+0000 and lone surrogates. Stored exactly as it is.',
  example: 'Bella',
});

const CategoryId = int64({
  description:
    'Identifier of the category the animal belongs to: any 64-bit integer, exact to the last ' +
    'digit. `7.0` and `7e0` are the integer 7.',
  example: 7n,
});

const BELLA = { id: 1n, name: 'Bella', categoryId: 7n, status: 'available' };

const Pet = Type.Object(
  {
    id: PetId,
    name: Name,
    categoryId: CategoryId,
    status: Type.Optional(statusReference({ description: 'Availability status.' })),
  } satisfies Record<keyof StoredPet, object>,
  {
    description: 'An animal of the store.',
    // The second shows that integers are exact: a JavaScript number would round it.
    examples: [BELLA, { ...BELLA, categoryId: INT64_MAX }],
  },
);

const NewPet = Type.Object(
  {
    name: Name,
    categoryId: CategoryId,
    // No `default` keyword: generators would make the member required.
    status: Type.Optional(statusReference({ description: '`available` if omitted.' })),
  } satisfies Record<keyof GivenPet, object>,
  {
    description:
      'A new animal. Other members are ignored. Repeated members and nesting deeper than 16 are ' +
      'refused.',
    examples: [
      { name: 'Bella', categoryId: INT64_MAX, status: 'available' },
      { name: 'Milo', categoryId: 1n },
    ],
  },
);

const PetChange = Type.Object(
  {
    name: Type.Optional(Name),
    categoryId: Type.Optional(CategoryId),
    status: Type.Optional(statusReference({ description: 'The new status.' })),
  } satisfies Record<keyof GivenPet, object>,
  {
    description: 'A change of an animal. Other members are refused.',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ status: 'sold' }, { name: 'Bella', categoryId: 7n }],
  },
);

/** The query of listPets, once its integers are read. */
export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ format: 'int32', ...PAGE_LIMIT })),
  status: Type.Optional(statusReference()),
  after: Type.Optional(int64()),
} satisfies Record<keyof PetQuery, object>);

/** The query of an operation that changes an animal. */
export const ChangeQuery = Type.Object({
  from: Type.Optional(statusReference()),
} satisfies Record<keyof Pick<ChangeOptions, 'from'>, object>);

/** The schemas that the document names. */
export const COMPONENTS = {
  Pet,
  NewPet,
  PetChange,
  Pets: Type.Array(Type.Ref('#/components/schemas/Pet'), {
    description: 'Animals, in ascending order of `id`.',
    maxItems: PAGE_LIMIT.maximum,
    examples: [[BELLA]],
  }),
  PetStatus,
  Error: Type.Object(
    {
      code: Type.String({
        description: 'Machine-readable error code. Its meaning never changes.',
        example: 'pet_not_found',
      }),
      message: Type.String({
        description: 'Human-readable description. Its wording may change.',
        example: ERRORS.pet_not_found.message,
      }),
      status: Type.Integer({
        format: 'int32',
        minimum: 400,
        maximum: 599,
        description: 'HTTP status code of the response.',
        example: ERRORS.pet_not_found.status,
      }),
    },
    { description: 'The body of every error response.' },
  ),
};

/** The JSON of an animal. The schema says less than the service does: it always sends the status. */
export type PetBody = Required<Static<typeof Pet, typeof REFERRED>>;

export type ErrorBody = Static<typeof COMPONENTS.Error>;

/** The checks of what clients send. What passes may still break a rule of the domain that no schema can say. */
export const newPetValidator = Compile(REFERRED, NewPet);
export const petChangeValidator = Compile(REFERRED, PetChange);
export const listQueryValidator = Compile(REFERRED, ListQuery);
export const changeQueryValidator = Compile(REFERRED, ChangeQuery);
