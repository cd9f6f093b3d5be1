/**
 * Resolves to `late` if the work takes longer than this, in milliseconds. Meanwhile the timer keeps the process, which
 * would otherwise end without a word when it waits for nothing else.
 */
export async function resultWithin<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> {
  const timeout = Promise.withResolvers<Late>();
  const timer = setTimeout(timeout.resolve, Math.max(0, milliseconds), late);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
