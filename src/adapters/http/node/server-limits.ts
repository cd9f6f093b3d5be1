/**
 * The limits of the listening server. All of them are set here, because Node's own defaults change between
 * versions. Times are in milliseconds, sizes in bytes.
 */
export const SERVER_LIMITS = {
  /** Time for the headers of a request, from the connection or from the first byte of a later request. */
  headersTimeout: 10_000,
  /** Time for a whole request, its body included, from the same moment. */
  requestTimeout: 15_000,
  /** How often the server checks all timeouts but `writeTimeout`. */
  connectionsCheckingInterval: 1_000,
  /** How long an idle connection stays open. Longer than proxies in front keep theirs. */
  keepAliveTimeout: 65_000,
  /** A client that reads nothing of its response for this long, or up to twice as long, is cut off. */
  writeTimeout: 10_000,
  /** Size of the request line and headers together. */
  maxHeaderSize: 16 * 1024,
  /** Requests on one connection; the last response closes it, so that clients spread anew. 0 is no limit. */
  maxRequestsPerSocket: 10_000,
  /** Open connections. For one more, the server closes the one that has waited longest for a request. */
  maxConnections: 2_000,
  /** How long the server waits for the client to close after the last response on a connection. */
  lingerTime: 1_000,
  /** How much input the server discards meanwhile. */
  lingerBytes: 64 * 1024,
  /** How long a stopping server still waits for requests on idle connections. */
  stopGrace: 500,
} as const;

/** The limits of a listening server; see `SERVER_LIMITS` for meanings, units and defaults. */
export type ServerLimits = { readonly [Name in keyof typeof SERVER_LIMITS]: number };

/** `SERVER_LIMITS` with the given ones instead; `undefined` keeps the default. */
export function serverLimits(given: Partial<ServerLimits> = {}): ServerLimits {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...SERVER_LIMITS, ...Object.fromEntries(set) };
}
