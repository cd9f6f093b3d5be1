/**
 * The bounds of the listening server, all of them set rather than left to the runtime, whose own change
 * between versions. Times are in milliseconds, sizes in bytes.
 */
export const SERVER_LIMITS = {
  /** From the connection, or the end of the request before, to the end of a request's headers. */
  headersTimeout: 10_000,
  /** To the end of its body. */
  requestTimeout: 15_000,
  /** How often the two above are looked after. */
  connectionsCheckingInterval: 1_000,
  /** How long an unused connection is kept: longer than the balancers in front keep theirs. */
  keepAliveTimeout: 65_000,
  /** Request line and headers together. */
  maxHeaderSize: 16 * 1024,
  /** No bound by number: Node 22 would drop the headers beyond it in silence, Authorization among them. */
  maxHeadersCount: 0,
  /** After so many a connection is closed, so that clients come to be spread anew. */
  maxRequestsPerSocket: 10_000,
  /** Connections at the same time; further ones are dropped. */
  maxConnections: 2_000,
  /** How long a connection stays half open after an answer that came before the end of its request. */
  lingerTime: 1_000,
  /** How much of that request is read and thrown away meanwhile; more is left in the network. */
  lingerBytes: 64 * 1024,
} as const;

/** All bounds of a listening server; `SERVER_LIMITS` says what each means, and its unit. */
export type ServerLimits = { readonly [Name in keyof typeof SERVER_LIMITS]: number };
