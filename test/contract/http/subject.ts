import type { Conversation } from './conversation.js';
import type { RawRequest, RowRequest, Situation, Values } from './request-row.js';

/** A service under test, whatever carries requests to it. */
export interface Subject {
  /** Where the operations are, base path included. */
  readonly url: string;
  /** Whether requests reach it over a socket: else rows that are `socketOnly` are left out. */
  readonly overSocket: boolean;
  readonly values: Keys;
  /** Sends a request, everything in it filled in, and gives back what came. */
  send(request: RowRequest | RawRequest, wanted?: Wanted): Promise<Conversation>;
  stop(): Promise<void>;
}

export interface Wanted {
  /** How many answers; 1 when left out. */
  readonly answers?: number;
  /** To wait until the server closes the connection. */
  readonly untilClosed?: boolean;
}

/** The values that a service has from its start. */
export type Keys = Pick<Values, Extract<keyof Values, `${string}${'k' | 'K'}ey`>>;

/** Starts a service in the situation, its store empty. */
export type Start = (situation: Situation) => Promise<Subject>;
