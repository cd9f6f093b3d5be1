import { setTimeout as delay } from 'node:timers/promises';
import {
  MongoServerError,
  type Collection,
  type Filter,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import type { CallOptions } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { LostRaceError, NoReplyError, isMongoFault, isTransient } from './mongo-errors.js';

/** A server silent this long is presumed dead, in milliseconds. */
export const SILENCE_LIMIT = 2000;

/** What every operation of an attempt passes to the driver. The server stops working on it after `maxTimeMS`. */
export interface AttemptOptions {
  readonly signal: AbortSignal;
  readonly maxTimeMS: number;
}

/** One try of a call. It may have taken effect although it failed: making it twice must have the effect of once. */
export type Attempt<Result> = (options: AttemptOptions) => Promise<Result>;

/**
 * Runs `attempt`, and retries transient failures until the timeout, in milliseconds. An attempt gets two fifths of it: a
 * server silent that long is presumed dead.
 * @throws {UnavailableError} with the driver's error as its cause. Any other error of `attempt` is passed on.
 */
export async function retryWhileTransient<Result>(
  doing: string,
  { signal, timeout }: CallOptions & { readonly timeout: number },
  attempt: Attempt<Result>,
): Promise<Result> {
  const giveUpAt = performance.now() + timeout;
  let cause: unknown;
  for (let pause = 10; ; pause = Math.min(200, pause * 2)) {
    const left = Math.max(1, giveUpAt - performance.now());
    try {
      return await within(Math.min((timeout * 2) / 5, left), signal, attempt);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMongoFault(error)) throw error;
      // The last attempt may have had too little time to find out what is wrong.
      if (cause === undefined || !(error instanceof NoReplyError)) cause = error;
      const wait = pause * (0.5 + Math.random());
      const isLast = performance.now() + wait >= giveUpAt || !isTransient(error);
      if (isLast) throw new UnavailableError(doing, { cause });
      // If the signal is aborted, the next attempt does not begin.
      await delay(wait, undefined, { signal }).catch(() => {});
    }
  }
}

/**
 * Runs `attempt` with a deadline. When it passes, or `outer` is aborted, the call rejects at once and the attempt's
 * signal is aborted. The attempt itself may run on for a while, beside the next one: so it must check its signal before
 * it changes what both share. It does not begin if `outer` is aborted before.
 */
export async function within<Result>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  attempt: Attempt<Result>,
): Promise<Result> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    ended.reject(reason);
    controller.abort(reason);
  };
  const onAbort = (): void => end(outer?.reason);
  const timer = setTimeout(() => end(new NoReplyError('no answer in time')), milliseconds);
  outer?.addEventListener('abort', onAbort);
  const options = {
    signal: controller.signal,
    maxTimeMS: Math.ceil(milliseconds),
  };
  try {
    return await Promise.race([attempt(options), ended.promise]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  }
}

/**
 * Inserts a document. Resolves to it, or to the one that was stored under its `_id` before: by another call, or by an
 * earlier attempt whose reply was lost.
 */
export async function insertOrFind<Stored extends { readonly _id: bigint | string }>(
  collection: Collection<Stored>,
  document: Stored,
  options: AttemptOptions,
): Promise<Stored> {
  try {
    await collection.insertOne(document as OptionalUnlessRequiredId<Stored>, options);
    return document;
  } catch (error) {
    if (!isTakenId(error)) throw error;
  }
  const { _id } = document;
  const found = await collection.findOne<Stored>({ _id } as Filter<Stored>, options);
  if (found !== null) return found;
  throw new LostRaceError(`the majority does not have ${_id} in ${collection.collectionName} yet`);
}

/** Whether a document has the `_id` already, rather than what a unique index that somebody made refuses. */
const isTakenId = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  error.code === 11_000 &&
  '_id' in (error['keyPattern'] ?? { _id: 1 });
