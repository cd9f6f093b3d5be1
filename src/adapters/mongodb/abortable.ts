import type { Abortable } from 'mongodb';
import { ATTEMPT_TIMEOUT } from './retry.js';

/** Bounds what a server does for a call whose client has given up, in milliseconds. */
export const SERVER_LIMIT = { maxTimeMS: ATTEMPT_TIMEOUT } as const;

/** The driver takes a signal for every operation, and says so in the types of reads only. */
export const abortable = <const Options extends object>(
  options: Options,
  signal: AbortSignal,
): Options & Abortable => ({
  ...options,
  signal,
});
