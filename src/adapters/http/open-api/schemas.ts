import { Type, type Static, type TSchemaOptions } from 'typebox';
import { PAGE_LIMIT } from '../../../application/call-rules.js';
import { INT64_MAX, INT64_MIN } from '../../../domain/int64.js';
import { MAX_NAME_LENGTH } from '../../../domain/pet.js';
import { PET_STATUSES } from '../../../domain/pet-status.js';

/* The schemas of the interface, for the OpenAPI document and for types. The domain alone judges values. */

/** A 64-bit integer: a bigint here, an integer in JSON. */
export const int64 = (options: TSchemaOptions = {}) =>
  Type.Unsafe<bigint>({
    type: 'integer',
    format: 'int64',
    minimum: INT64_MIN,
    maximum: INT64_MAX,
    ...options,
  });

const PetStatus = Type.Enum(PET_STATUSES, {
  type: 'string',
  description: 'Availability of an animal.', // no example: tools would send it as the filter
});

const refTo = <T>(name: string) => Type.Unsafe<T>({ $ref: `#/components/schemas/${name}` });

// Without `default`: generators would make the member required.
const status = Type.Optional(refTo<Static<typeof PetStatus>>('PetStatus'));

const name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  // In ASCII and without \s and \u, because generators copy it into source text of any language. It is looser than the
  // domain's rule only for names of rare blanks, such as U+3000, and for lone surrogates.
  pattern: String.raw`^[\x09-\x0d ]*[^\x00\x09-\x0d ][^\x00]*$`,
  description:
    "The animal's name: Unicode text with at least one character that is not White_Space, " +
    'without U+0000 or lone surrogates. Stored exactly as it is. Write U+FFFD as `\\ufffd`.',
  example: 'Bella',
});

const categoryId = int64({
  description:
    'Identifier of the category the animal belongs to: any 64-bit integer, exact to the last ' +
    'digit. `7.0` and `7e0` are the integer 7.',
  example: 7n,
});

const id = int64({
  description: 'Identifier of the animal, assigned by the service: ascending, never reused.',
  example: 1n,
});

const BELLA = { name: 'Bella', categoryId: 7n, status: 'available' };

const Pet = Type.Object(
  { id, name, categoryId, status },
  {
    description: 'An animal of the store.',
    // The second shows that integers are exact: a JavaScript number would round it.
    examples: [
      { id: 1n, ...BELLA },
      { id: 1n, ...BELLA, categoryId: INT64_MAX },
    ],
  },
);

const NewPet = Type.Object(
  { name, categoryId, status },
  {
    description: 'A new animal, `available` if its status is omitted. Unknown members are ignored.',
    examples: [BELLA, { name: 'Milo', categoryId: INT64_MAX }],
  },
);

const PetChange = Type.Partial(NewPet, {
  description: 'What to change: at least one member. Unknown members are ignored.',
  minProperties: 1,
  examples: [{ status: 'sold' }, { name: 'Bella', categoryId: 7n }],
});

/** The schemas that the document names. */
export const SCHEMAS = {
  Pet,
  NewPet,
  PetChange,
  Pets: Type.Array(refTo<Static<typeof Pet>>('Pet'), {
    description: 'Animals, in ascending order of `id`.',
    maxItems: PAGE_LIMIT.maximum,
    examples: [[{ id: 1n, ...BELLA }]],
  }),
  PetStatus,
  Error: Type.Object(
    {
      code: Type.String({
        description: 'Machine-readable error code. Its meaning never changes.',
      }),
      message: Type.String({
        description: 'Human-readable description. Its wording may change.',
      }),
      status: Type.Integer({
        format: 'int32',
        minimum: 400,
        maximum: 599,
        description: 'HTTP status code of the response.',
      }),
    },
    { description: 'The body of every error response.' },
  ),
};

/** What `petJson` writes. The schema leaves `status` optional; the service always sends it. */
export type PetBody = Required<Static<typeof Pet>>;

export type ErrorBody = Static<typeof SCHEMAS.Error>;
