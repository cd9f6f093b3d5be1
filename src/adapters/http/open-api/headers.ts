import { PAGE_LIMIT } from '../../../application/create-animal-store.js';
import { writeCursor } from '../../../application/page-cursor.js';
import type { Keywords } from './json-schema.js';

/** A header of answers, as the document describes it. */
export interface DocumentedHeader {
  /** On the wire. */
  readonly name: string;
  readonly description: string;
  readonly schema: Keywords;
  /** Whether it is on every answer that may have it. */
  readonly required: boolean;
  readonly example: (baseUrl: string) => unknown;
}

/** The headers that clients can make use of, by their names among the document's components. */
export const HEADERS = {
  RequestId: {
    name: 'X-Request-Id',
    description:
      "Names the request in the service's log. The client's own, if it sent one that matches the pattern, else a new one.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    required: true,
    example: () => '7f9c2ba4-e88f-4c1d-9d0a-5a1f3c2b1e00',
  },
  NextLink: {
    name: 'Link',
    description:
      'The next page (RFC 8288): `<URL>; rel="next"`, the URL to be followed as it is, resolved against that of ' +
      'the request. Absent on the last page.',
    schema: { type: 'string', pattern: '^<[^<>]+>; rel="next"$' },
    required: false,
    example: (baseUrl) => {
      const cursor = writeCursor(BigInt(PAGE_LIMIT.default), 'available');
      return `<${baseUrl}/pets?status=available&limit=${PAGE_LIMIT.default}&cursor=${cursor}>; rel="next"`;
    },
  },
  Location: {
    name: 'Location',
    description: 'Where the new animal is (RFC 9110, 10.2.2).',
    schema: { type: 'string', format: 'uri-reference' },
    required: true,
    example: (baseUrl) => `${baseUrl}/pets/1`,
  },
  EntityTag: {
    name: 'ETag',
    description:
      'Names this answer (RFC 9110, 8.8.3): sent in `If-None-Match`, it is answered 304 while the answer, its `Link` ' +
      'included, would be the same.',
    schema: { type: 'string', pattern: '^"[^"]+"$' },
    required: true,
    example: () => '"47DEQpj8HBSa-_TImW-5JC"',
  },
  IdempotencyReplayed: {
    name: 'Idempotency-Replayed',
    description: 'The animal was added by an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
    required: false,
    example: () => 'true',
  },
  Challenge: {
    name: 'WWW-Authenticate',
    description:
      'What is wrong with the key (RFC 6750): `error="invalid_token"` when a key was sent that is not valid, ' +
      '`error="insufficient_scope"` and the scope when the key lacks one.',
    schema: { type: 'string', pattern: '^Bearer realm="animal-store"' },
    required: true,
    example: () => 'Bearer realm="animal-store", error="invalid_token"',
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'After how many seconds to repeat the request (RFC 9110, 10.2.3).',
    schema: { type: 'integer', minimum: 1 },
    required: true,
    example: () => 1,
  },
  Accept: {
    name: 'Accept',
    description: 'The media type to send, where the one that was sent is the fault.',
    schema: { type: 'string', const: 'application/json' },
    required: false,
    example: () => 'application/json',
  },
  AcceptEncoding: {
    name: 'Accept-Encoding',
    description: 'The encoding to send, where the one that was sent is the fault: none.',
    schema: { type: 'string', const: 'identity' },
    required: false,
    example: () => 'identity',
  },
} as const satisfies Record<string, DocumentedHeader>;

export type HeaderName = keyof typeof HEADERS;

/** Those of every answer of a deprecated operation's route, by their names on the wire. */
export const DEPRECATION_HEADERS = {
  Deprecation: {
    component: 'Deprecation',
    description: 'Since when the operation is deprecated (RFC 9745): `@` and seconds since 1970.',
    schema: { type: 'string', pattern: '^@-?[0-9]+$' },
  },
  Sunset: {
    component: 'Sunset',
    description: 'When the operation is to be removed, as an HTTP-date (RFC 8594).',
    schema: { type: 'string' },
  },
  Link: {
    component: 'SuccessorLink',
    description: 'What to use instead (RFC 5829).',
    schema: { type: 'string', pattern: '^<[^<>]+>; rel="successor-version"$' },
  },
} as const;
