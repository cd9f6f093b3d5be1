import { totalmem } from 'node:os';

/** The usual memory of a busy connection, in bytes: a chunk of input, a response that waits to be sent, its objects. */
const CONNECTION_MEMORY = 192 * 1024;

/**
 * The limits of the listening server. All of them are set here, because Node's own defaults change between
 * versions. Times are in milliseconds, sizes in bytes.
 */
export const SERVER_LIMITS = {
  /** Time for the headers of a request, from its first byte; also for the first byte of a new connection. */
  headersTimeout: 10_000,
  /** Time for the body of a request, from its headers. */
  requestTimeout: 15_000,
  /** How long an idle connection stays open. Longer than proxies in front keep theirs. */
  keepAliveTimeout: 65_000,
  /** Time for a client to read each chunk of a response. */
  writeTimeout: 20_000,
  /** Size of the request line and headers together. */
  maxHeaderSize: 16 * 1024,
  /**
   * Requests in progress on one connection, at least 2. If a client pipelines more, the server answers these and
   * closes.
   */
  maxPipelined: 8,
  /**
   * Open connections; by default no more than a quarter of the memory holds, at 192 KiB each. For one more, the server
   * closes the one that has waited longest for its client, to send a request or to read a response.
   */
  maxConnections: 2_000,
  /** How long the server waits for the client to close after the last response on a connection. */
  lingerTime: 1_000,
  /** How long a stopping server still waits for requests on idle connections. */
  stopGrace: 500,
} as const;

export type ServerLimits = { readonly [Name in keyof typeof SERVER_LIMITS]: number };

/** The given limits, completed by the defaults. `memory` is what the process may use, in bytes. */
export function serverLimits(
  given: Partial<ServerLimits> = {},
  // The limit of the control group, or the memory of the machine.
  memory = Math.min(process.constrainedMemory() || Infinity, totalmem()),
): ServerLimits {
  const maxConnections = Math.min(
    SERVER_LIMITS.maxConnections,
    Math.floor(memory / 4 / CONNECTION_MEMORY),
  );
  return { ...SERVER_LIMITS, maxConnections, ...given };
}
