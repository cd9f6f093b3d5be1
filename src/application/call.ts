/** What goes with a single call, beside its arguments. */
export interface Call {
  /**
   * Aborted: the call rejects with `signal.reason`, at once or as soon as the adapter can. A write may or
   * may not have happened by then, but one that is still queued never reaches the store.
   */
  readonly signal?: AbortSignal | undefined;
}
