/** Waits for all, then rejects with the first error. */
export async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Does one, and then the other even if the first fails. */
export async function doBoth(
  first: () => Promise<void>,
  second: () => Promise<void>,
): Promise<void> {
  try {
    await first();
  } finally {
    await second();
  }
}

/** In milliseconds: a timer that is set for longer fires at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Resolves or rejects as `work` does; rejects when it takes longer, unless no timer can be set for so long. */
export async function within<Result>(
  milliseconds: number,
  what: string,
  work: Promise<Result>,
): Promise<Result> {
  if (milliseconds > LONGEST_TIMER) return work;
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const error = new Error(`${what} within ${milliseconds / 1000} s`);
  const timer = setTimeout(() => reject(error), milliseconds);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
