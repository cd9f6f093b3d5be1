import { PAGE_LIMIT } from '../../application/call-rules.js';
import type { Scope } from '../../application/ports/authenticator.js';
import { ERRORS, messageOf, type ErrorCode } from './error-codes.js';
import { GET_PET_SUNSET, type EXPERIMENTAL, type HttpSettings } from './http-settings.js';
import { reference, type Keywords } from './json-schema.js';
import { IDEMPOTENCY_KEY_PATTERN } from './request-headers.js';
import { ChangeQuery, ListQuery, PetId } from './schemas.js';

/** The id of an operation of the interface. */
export type OperationId = 'listPets' | 'createPet' | 'getPet' | 'changePet' | 'removePet';

/** The declaration of an operation: routes, authorization, deprecation and the OpenAPI document follow from it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base path. Parameters are in braces. */
  readonly path: '/pets' | '/pets/{petId}';
  /** The scope that a key needs. */
  readonly scope: Scope;
  readonly summary: string;
  /** In Markdown, like every description. */
  readonly description: string;
  /** Marks an operation that may still change. An experimental one is served only where the settings name it. */
  readonly stability?: 'experimental' | 'beta';
  readonly deprecation?: Deprecation;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly body?: {
    readonly schema: Keywords;
    /** A valid value. Tools without one make values of the names of the types. */
    readonly example: unknown;
    readonly description: string;
    /** Its media types. The first is the usual one. */
    readonly types: readonly string[];
  };
  readonly success: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    /** Of its body. Omit if it has none. */
    readonly schema?: Keywords;
    /** Headers that it has, or may have, beyond those of every response. */
    readonly headers?: ReadonlyArray<'NextLink' | 'Location' | 'EntityTag' | 'IdempotencyReplayed'>;
  };
  /** Whether it honours `If-None-Match`. */
  readonly conditional?: true;
  /** Its errors, beyond those of every operation. */
  readonly errors: readonly ErrorCode[];
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Keywords;
  readonly description: string;
  /** A valid value. Some tools refuse a path parameter without one. */
  readonly example?: unknown;
}

export interface Deprecation {
  /** When the operation will be removed (RFC 8594). */
  readonly sunset: Date;
  /** The successor, below the base path, for programs. */
  readonly successor: string;
  /** The request that does the same, below the base path, for people. */
  readonly replacement: string;
  /** What to use instead, as a sentence. */
  readonly advice: string;
}

/** The parameter of every conditional operation. */
const IF_NONE_MATCH: Parameter = {
  in: 'header',
  schema: { type: 'string' },
  description:
    'The `ETag` of an earlier response. While the response would be the same, it is a 304 ' +
    'without a body.',
};

const PET_ID_PARAMETER: Parameter = {
  in: 'path',
  schema: PetId,
  example: 1n,
  description:
    'Identifier of the animal. Anything other than a 64-bit integer matches no animal and gets ' +
    '404.',
};

/** What every operation that changes an animal declares. */
const OF_A_CHANGE = {
  parameters: {
    petId: PET_ID_PARAMETER,
    from: {
      in: 'query',
      schema: ChangeQuery.properties.from,
      example: 'available',
      description:
        'Only if the animal has this status now, else 409: of several callers who sell an animal ' +
        'one succeeds. Default: any status.',
    },
    'If-Match': {
      in: 'header',
      schema: { type: 'string' },
      description: 'Only if the animal still has this `ETag`, else 412. `*` matches any animal.',
    },
  } satisfies Record<keyof typeof ChangeQuery.properties | 'petId' | 'If-Match', Parameter>,
  errors: ['invalid_parameter', 'pet_not_found', 'status_conflict', 'precondition_failed'],
} as const;

/** The errors of every operation that has a body. */
const OF_A_BODY = [
  'missing_body',
  'malformed_json',
  'invalid_pet',
  'payload_too_large',
  'unsupported_media_type',
] as const;

export const OPERATIONS = {
  listPets: {
    method: 'GET',
    path: '/pets',
    scope: 'pets:read',
    summary: 'List animals',
    description:
      'Returns a page of animals in ascending order of `id`. While there are more, the response ' +
      'has a `Link` with `rel="next"`: follow it as it is, and stop when there is none. Every ' +
      'animal that exists during the whole traversal, with the `status` if one is given, appears ' +
      'exactly once.',
    parameters: {
      limit: {
        in: 'query',
        schema: ListQuery.properties.limit,
        example: 20n,
        description: 'Maximum number of animals returned. Invalid values are refused, not clamped.',
      },
      status: {
        in: 'query',
        schema: ListQuery.properties.status,
        example: 'available',
        description: 'Returns only animals with this availability status. Default: all.',
      },
      after: {
        in: 'query',
        schema: ListQuery.properties.after,
        example: 0n, // the first page: tools send examples as they are
        description:
          'Returns only animals with a greater `id`. The last `id` of a page leads to the next ' +
          'page, as its `Link` does.',
      },
      'If-None-Match': IF_NONE_MATCH,
    } satisfies Record<keyof typeof ListQuery.properties | 'If-None-Match', Parameter>,
    success: {
      status: 200,
      description: `The animals of the page, at most \`limit\` (default ${PAGE_LIMIT.default}).`,
      schema: reference('Pets'),
      headers: ['EntityTag', 'NextLink'],
    },
    conditional: true,
    errors: ['invalid_parameter', 'precondition_failed'],
  },
  createPet: {
    method: 'POST',
    path: '/pets',
    scope: 'pets:write',
    summary: 'Add an animal',
    description:
      'Adds an animal and assigns its `id`. To retry the request safely, send an ' +
      '`Idempotency-Key`. After a 4xx response nothing was stored. After a 5xx the animal may ' +
      'have been added: retry with the same key.',
    parameters: {
      'Idempotency-Key': {
        in: 'header',
        schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN },
        description:
          'Makes retries safe. Use a new value, such as a UUID, for each animal. The same key ' +
          'with the same animal returns the first response again, with `Idempotency-Replayed: ' +
          'true`; with another animal it is 422. Double quotes around it are optional. Keys ' +
          'belong to the API key and are kept for 24 hours; refused requests do not use them up.',
      },
    },
    body: {
      schema: reference('NewPet'),
      example: { name: 'Bella', categoryId: 7, status: 'available' },
      description: 'The animal, as uncompressed `application/json` in UTF-8.',
      types: ['application/json'],
    },
    success: {
      status: 201,
      description: 'The animal was added. `Location` is its URL.',
      schema: reference('Pet'),
      headers: ['Location', 'IdempotencyReplayed'],
    },
    errors: [...OF_A_BODY, 'invalid_parameter', 'idempotency_conflict', 'idempotency_key_reused'],
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    scope: 'pets:read',
    summary: 'Get an animal',
    description: 'Returns one animal by its identifier.',
    deprecation: {
      sunset: GET_PET_SUNSET,
      successor: '/pets?status=available',
      replacement: '/pets?after=<id - 1>&limit=1',
      advice:
        'Use `GET /pets` with the `status` filter instead. For one animal: `GET /pets?after=<id ' +
        '- 1>&limit=1`. If the animal is gone, that returns the next one.',
    },
    parameters: {
      petId: PET_ID_PARAMETER,
      'If-None-Match': IF_NONE_MATCH,
    },
    success: {
      status: 200,
      description: 'The animal.',
      schema: reference('Pet'),
      headers: ['EntityTag'],
    },
    conditional: true,
    errors: ['pet_not_found', 'precondition_failed'],
  },
  changePet: {
    method: 'PATCH',
    path: '/pets/{petId}',
    scope: 'pets:write',
    summary: 'Change an animal',
    description:
      'Changes the members that the body has. Omitted members stay as they are. After a 4xx ' +
      'response nothing was changed.',
    stability: 'experimental',
    parameters: OF_A_CHANGE.parameters,
    body: {
      schema: reference('PetChange'),
      example: { status: 'sold' },
      description: 'What changes, as a merge patch (RFC 7396): uncompressed JSON in UTF-8.',
      types: ['application/merge-patch+json', 'application/json'],
    },
    success: {
      status: 200,
      description: 'The animal as it is now.',
      schema: reference('Pet'),
      headers: ['EntityTag'],
    },
    errors: [...OF_A_BODY, ...OF_A_CHANGE.errors],
  },
  removePet: {
    method: 'DELETE',
    path: '/pets/{petId}',
    scope: 'pets:delete',
    summary: 'Remove an animal',
    description:
      'Removes an animal. Its `id` is never assigned again. A retry of its create still returns ' +
      'the first response, and does not add the animal again.',
    stability: 'experimental',
    parameters: OF_A_CHANGE.parameters,
    success: { status: 204, description: 'The animal was removed.' },
    errors: OF_A_CHANGE.errors,
  },
} as const satisfies Record<OperationId, Operation> &
  Record<(typeof EXPERIMENTAL)[number], { readonly stability: 'experimental' }>;

const ALL = Object.entries<Operation>(OPERATIONS) as ReadonlyArray<
  readonly [OperationId, Operation]
>;

/** createPet on a store that keeps no idempotency keys. */
const CREATE_WITHOUT_KEYS: Operation = {
  ...OPERATIONS.createPet,
  description: 'Adds an animal and assigns its `id`. After a 4xx response nothing was stored.',
  parameters: {},
  success: { ...OPERATIONS.createPet.success, headers: ['Location'] },
  errors: [...OF_A_BODY, 'invalid_parameter'],
};

/** The operations that a service with these settings serves. */
export const servedOperations = ({ experimental, idempotencyKeys }: HttpSettings) =>
  ALL.filter(
    ([id, { stability }]) =>
      stability !== 'experimental' || experimental.some((each) => each === id),
  ).map(([id, operation]): (typeof ALL)[number] =>
    id === 'createPet' && !idempotencyKeys ? [id, CREATE_WITHOUT_KEYS] : [id, operation],
  );

/** The same by their paths. */
export const servedPaths = (settings: HttpSettings) =>
  Map.groupBy(servedOperations(settings), ([, { path }]) => path);

/** Makes the headers of a deprecated operation: RFC 9745 (a Structured Field date), RFC 8594 and RFC 5829. */
export function deprecationHeaders({ sunset, successor }: Deprecation, since: Date) {
  const Deprecation = `@${Math.floor(since.getTime() / 1000)}`;
  const Sunset = sunset.toUTCString();
  return (linkBase: string) => {
    return { Deprecation, Sunset, Link: `<${linkBase}${successor}>; rel="successor-version"` };
  };
}

/** Whether the settings have removed the operation. */
export const isRemoved = (id: string, { getPet }: HttpSettings): boolean =>
  id === 'getPet' && getPet === 'off';

/** A body of an error of an operation, as an example. */
export const errorExample = (
  code: ErrorCode,
  { scope, method, deprecation }: Operation,
  { basePath, publicUrl = basePath, bodyLimit, rateLimit }: HttpSettings,
) => ({
  code,
  message: messageOf(code, {
    scope,
    bodyLimit,
    fault: 'Expected a value at position 8',
    requestId: '7f9c2ba4-e88f-4c1d-9d0a-5a1f3c2b1e00',
    replacement: publicUrl + (deprecation?.replacement ?? ''),
    methods: method,
    ...(rateLimit ?? { requests: 100, seconds: 10 }),
  }),
  status: ERRORS[code].status,
});
