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

/**
 * Runs `attempt`, and retries transient failures until the timeout, in milliseconds. An attempt gets two fifths of it: a
 * server silent that long is presumed dead. It may have taken effect although it failed: calling it twice must have the
 * effect of once.
 * @throws {UnavailableError} with the driver's error as its cause. Any other error of `attempt` is passed on.
 */
export async function retryWhileTransient<Result>(
  doing: string,
  { signal, timeout }: CallOptions & { readonly timeout: number },
  attempt: (options: AttemptOptions) => Promise<Result>,
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
      if (!isTransient(error) || performance.now() + wait >= giveUpAt) {
        throw new UnavailableError(doing, { cause });
      }
      await delay(wait, undefined, { signal }).catch(() => {}); // aborted: the next attempt does not begin
    }
  }
}

/**
 * Runs `attempt` with a deadline. When it passes, or `outer` is aborted, the call rejects at once and the attempt's
 * signal is aborted. The attempt does not begin if `outer` is aborted before.
 */
export function within<Result>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  attempt: (options: AttemptOptions) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  return new Promise<Result>((resolve, reject) => {
    outer?.throwIfAborted();
    const end = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => end(outer?.reason);
    const timer = setTimeout(() => end(new NoReplyError('no answer in time')), milliseconds);
    outer?.addEventListener('abort', onAbort, { once: true });
    void attempt({ signal: controller.signal, maxTimeMS: Math.max(1, Math.ceil(milliseconds)) })
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        outer?.removeEventListener('abort', onAbort);
      });
  });
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
    const isTaken = error instanceof MongoServerError && error.code === 11_000;
    if (!isTaken) throw error;
  }
  const { _id } = document;
  const found = await collection.findOne<Stored>({ _id } as Filter<Stored>, options);
  if (found === null)
    throw new LostRaceError(
      `the majority does not have ${_id} in ${collection.collectionName} yet`,
    );
  return found;
}
