import { Type, type TSchema } from 'typebox';
import { PAGE_LIMIT } from '../../application/create-animal-store.js';
import { INT64_MAX } from '../../domain/int64.js';
import { MAX_NAME_LENGTH, type NewPet, type Pet } from '../../domain/pet.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { ERRORS } from './error-codes.js';
import { INT64, PET_ID, reference } from './json-schema.js';

/* The schemas of the interface. They only describe, for the OpenAPI document: the domain checks. */

const NAME = {
  type: 'string',
  minLength: 1,
  // In ASCII and without \s and \u, because generators copy it into source text of any language. So it is looser than
  // the rule, for names of rare blanks alone, such as U+3000, and for lone surrogates, which most languages lack.
  pattern: String.raw`^[\x09-\x0d ]*[^\x00\x09-\x0d ][^\x00]*$`,
  description:
    "The animal's name: Unicode text with at least one character that is not White_Space, without U+0000 and lone " +
    'surrogates. Stored exactly as it is.',
  example: 'Bella',
};

const CategoryIdSchema = Type.Unsafe({
  ...INT64,
  description:
    'Identifier of the category the animal belongs to: any 64-bit integer, exact to the last digit. ' +
    '`7.0` and `7e0` are the integer 7.',
  example: 7n,
});

const BELLA = { id: 1n, name: 'Bella', categoryId: 7n, status: 'available' };

/** The schemas that the document names. */
export const COMPONENTS: Readonly<Record<string, TSchema>> = {
  Pet: Type.Object(
    {
      id: Type.Unsafe(PET_ID),
      name: Type.Unsafe(NAME), // without a length: stores of older versions may hold longer ones
      categoryId: CategoryIdSchema,
      status: Type.Optional(
        Type.Unsafe(reference('PetStatus', { description: 'Availability status.' })),
      ),
    } satisfies Record<keyof Pet, TSchema>,
    {
      description: 'An animal of the store.',
      // The second shows that integers are exact: a JavaScript number would round it.
      examples: [BELLA, { ...BELLA, categoryId: INT64_MAX }],
    },
  ),
  NewPet: Type.Object(
    {
      name: Type.Unsafe({ ...NAME, maxLength: MAX_NAME_LENGTH }),
      categoryId: CategoryIdSchema,
      // No `default` keyword: generators would make the member required.
      status: Type.Optional(
        Type.Unsafe(reference('PetStatus', { description: '`available` if omitted.' })),
      ),
    } satisfies Record<keyof NewPet, TSchema>,
    {
      description:
        'A new animal. Other members are ignored. Repeated members and nesting deeper than 16 are refused.',
      examples: [
        { name: 'Bella', categoryId: INT64_MAX, status: 'available' },
        { name: 'Milo', categoryId: 1n },
      ],
    },
  ),
  StatusChange: Type.Object(
    { status: Type.Unsafe(reference('PetStatus', { description: 'The new status.' })) },
    {
      description: 'A change of an animal. Other members are refused.',
      additionalProperties: false,
      examples: [{ status: 'sold' }],
    },
  ),
  Pets: Type.Array(Type.Unsafe(reference('Pet')), {
    description: 'Animals, in ascending order of `id`.',
    maxItems: PAGE_LIMIT.maximum,
    examples: [[BELLA]],
  }),
  PetStatus: Type.Unsafe({
    type: 'string',
    enum: PET_STATUSES,
    description: 'Availability of an animal.',
    example: 'available',
  }),
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
