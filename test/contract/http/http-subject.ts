import type { Open, Subject } from '../contract.js';
import type { Conversation } from './conversation.js';
import type { HttpKeys, RawRequest, RowRequest } from './request-row.js';
import type { Situation } from './situation.js';

/** A service in a situation, its store empty, whatever carries requests to it. */
export interface HttpSubject extends Subject {
  /** Where the operations are, base path included. */
  readonly url: string;
  /** Whether requests reach it over a socket: else what only a socket can send or tell is not owed. */
  readonly overSocket: boolean;
  /** The API keys that the service knows. */
  readonly keys: HttpKeys;
  /** Why it cannot be set up as it was given; what needs this situation is not owed then. */
  readonly missing?: string | undefined;
  /** Sends a request, everything in it filled in, and gives back what came. */
  send(request: RowRequest | RawRequest, wanted?: Wanted): Promise<Conversation>;
}

/** What is to be waited for. */
export interface Wanted {
  /** How many answers; 1 when left out. */
  readonly answers?: number;
  /** To wait until the server closes the connection. */
  readonly untilClosed?: boolean;
}

/** Sets up a service in a situation. What `listenerSubjects` and its like make, for `httpContract`. */
export type OpenHttp = Open<HttpSubject, Situation>;
