import type { Keywords } from '../json-schema.js';
import { OPERATIONS, type DeprecationHeaders } from '../operations.js';

/** A response header, as the document describes it. */
export interface DocumentedHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: Keywords;
  /** Whether a response that declares it may lack it. */
  readonly optional?: true;
  readonly example: (baseUrl: string, deprecation: DeprecationHeaders) => unknown;
}

/** The headers that clients can use, by component name. */
export const HEADERS = {
  RequestId: {
    name: 'X-Request-Id',
    description:
      "Identifies the request in the service's log: the client's own value if it matches the pattern, else a new one.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    example: () => '7f9c2ba4-e88f-4c1d-9d0a-5a1f3c2b1e00',
  },
  NextLink: {
    name: 'Link',
    description:
      'The next page (RFC 8288): `<URL>; rel="next"`. Resolve the URL against that of the request and follow it as it ' +
      'is. Absent on the last page.',
    schema: { type: 'string', pattern: '^<[^<>]+>; rel="next"$' },
    optional: true,
    example: (baseUrl) => `<${baseUrl}/pets?status=available&limit=20&after=20>; rel="next"`,
  },
  Location: {
    name: 'Location',
    description: 'URL of the new animal (RFC 9110, 10.2.2).',
    schema: { type: 'string', format: 'uri-reference' },
    example: (baseUrl) => `${baseUrl}/pets/1`,
  },
  EntityTag: {
    name: 'ETag',
    description:
      'Identifies this response, including its `Link` (RFC 9110, 8.8.3). Send it in `If-None-Match`.',
    schema: { type: 'string', pattern: '^"[^"]+"$' },
    example: () => '"47DEQpj8HBSa-_TImW-5JC"',
  },
  IdempotencyReplayed: {
    name: 'Idempotency-Replayed',
    description: 'An earlier request with the same `Idempotency-Key` added the animal.',
    schema: { type: 'string', const: 'true' },
    optional: true,
    example: () => 'true',
  },
  Challenge: {
    name: 'WWW-Authenticate',
    description:
      'What is wrong with the key (RFC 6750): `error="invalid_token"` for an invalid key, ' +
      '`error="insufficient_scope"` with the missing scope.',
    schema: { type: 'string', pattern: '^Bearer realm="animal-store"' },
    example: () => 'Bearer realm="animal-store", error="invalid_token"',
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'Seconds to wait before a retry (RFC 9110, 10.2.3).',
    schema: { type: 'integer', minimum: 1 },
    example: () => 1,
  },
  RateLimitPolicy: {
    name: 'RateLimit-Policy',
    description:
      'The limit of the API key (draft-ietf-httpapi-ratelimit-headers): `q` requests in `w` seconds. On every ' +
      'response to a request that was counted.',
    schema: { type: 'string', pattern: '^"default";q=[0-9]+;w=[0-9]+$' },
    optional: true,
    example: () => '"default";q=100;w=10',
  },
  RateLimit: {
    name: 'RateLimit',
    description: 'How many requests remain (`r`), and the seconds until the limit starts anew (`t`).',
    schema: { type: 'string', pattern: '^"default";r=[0-9]+;t=[0-9]+$' },
    optional: true,
    example: () => '"default";r=57;t=3',
  },
  Accept: {
    name: 'Accept',
    description: 'The media type to send, if that was the fault.',
    schema: { type: 'string', const: 'application/json' },
    optional: true,
    example: () => 'application/json',
  },
  AcceptEncoding: {
    name: 'Accept-Encoding',
    description: 'The encoding to send, if that was the fault: none.',
    schema: { type: 'string', const: 'identity' },
    optional: true,
    example: () => 'identity',
  },
  AcceptPatch: {
    name: 'Accept-Patch',
    description: 'The media types that a PATCH may have (RFC 5789, 3.1).',
    schema: { type: 'string' },
    example: () => OPERATIONS.changeStatus.body.types.join(', '),
  },
  Deprecation: {
    name: 'Deprecation',
    description: 'When the operation became deprecated (RFC 9745): `@` and seconds since 1970.',
    schema: { type: 'string', pattern: '^@-?[0-9]+$' },
    example: (_, { Deprecation }) => Deprecation,
  },
  Sunset: {
    name: 'Sunset',
    description: 'When the operation will be removed, as an HTTP-date (RFC 8594).',
    schema: { type: 'string' },
    example: (_, { Sunset }) => Sunset,
  },
  SuccessorLink: {
    name: 'Link',
    description: 'What to use instead (RFC 5829).',
    schema: { type: 'string', pattern: '^<[^<>]+>; rel="successor-version"$' },
    example: (_, { Link }) => Link,
  },
} as const satisfies Record<string, DocumentedHeader>;

export type HeaderName = keyof typeof HEADERS;
