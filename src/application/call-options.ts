/** Options of a call. */
export interface CallOptions {
  /**
   * An abort rejects the call with `signal.reason`. A write in progress may still take effect; a waiting one never
   * does.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lets an adapter obey the signal of a call: settles as `work` does, or rejects with the signal's reason as soon as it
 * is aborted. `work` itself continues: other calls may share it, or nothing can stop it.
 */
export function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    void work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });
}
