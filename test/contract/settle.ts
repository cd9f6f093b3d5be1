/** Waits for all, then rejects with the first error. */
export async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Resolves or rejects as `work` does; rejects when it takes longer. */
export async function within<Result>(
  milliseconds: number,
  what: string,
  work: Promise<Result>,
): Promise<Result> {
  if (milliseconds === Infinity) return work;
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const error = new Error(`${what} within ${milliseconds / 1000} s`);
  const timer = setTimeout(() => reject(error), milliseconds);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
