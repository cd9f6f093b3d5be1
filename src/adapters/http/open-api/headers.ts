/** A response header, as the document describes it. A response that declares it has it, unless it is optional. */
export interface DocumentedHeader {
  readonly name: string;
  readonly description: string;
  readonly type?: 'integer'; // default: string
  readonly optional?: true;
}

/** The headers that clients can use, by component name. */
export const HEADERS = {
  RequestId: {
    name: 'X-Request-Id',
    description:
      "Names the request in the log: the client's own value if it is 1 to 128 of `A-Za-z0-9._-`, " +
      'else new.',
  },
  NextLink: {
    name: 'Link',
    description:
      'The next page (RFC 8288): `<URL>; rel="next"`, relative to the request. Absent on the ' +
      'last page.',
    optional: true,
  },
  Location: { name: 'Location', description: 'URL of the new animal (RFC 9110, 10.2.2).' },
  EntityTag: {
    name: 'ETag',
    description:
      'Identifies this response and its `Link` (RFC 9110, 8.8.3). Send it in `If-None-Match`.',
  },
  IdempotencyReplayed: {
    name: 'Idempotency-Replayed',
    description: '`true` for a replay.',
    optional: true,
  },
  Challenge: {
    name: 'WWW-Authenticate',
    description:
      'What is wrong with the key (RFC 6750): `error="insufficient_scope"` names the missing ' +
      'scope.',
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'Seconds to wait before a retry (RFC 9110).',
    type: 'integer',
  },
  RateLimitPolicy: {
    name: 'RateLimit-Policy',
    description:
      'The limit of the API key (draft-ietf-httpapi-ratelimit-headers): `q` requests in `w` ' +
      'seconds.',
    optional: true,
  },
  RateLimit: {
    name: 'RateLimit',
    description: '`r` requests remain; anew in `t` seconds.',
    optional: true,
  },
  Accept: {
    name: 'Accept',
    description: 'The media type to send, if that was the fault.',
    optional: true,
  },
  AcceptEncoding: {
    name: 'Accept-Encoding',
    description: 'The encoding, if that was the fault.',
    optional: true,
  },
  AcceptPatch: {
    name: 'Accept-Patch',
    description: 'The media types that a PATCH may have (RFC 5789, 3.1).',
  },
  Deprecation: {
    name: 'Deprecation',
    description: 'When the operation became deprecated (RFC 9745): `@` and seconds since 1970.',
  },
  Sunset: {
    name: 'Sunset',
    description: 'When the operation will be removed, as an HTTP-date (RFC 8594).',
  },
  SuccessorLink: { name: 'Link', description: 'What to use instead (RFC 5829).' },
} as const satisfies Record<string, DocumentedHeader>;

export type HeaderName = keyof typeof HEADERS;
