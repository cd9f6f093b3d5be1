/**
 * Why a catalogue was not copied; the message says it in full. With `source_changed` and `not_verified` the target
 * was written to, and is not to be used as it is; with the others nothing was written.
 */
export type CopyFault =
  'same_store' | 'source_empty' | 'target_not_empty' | 'target_differs' | 'source_changed' | 'not_verified';

const COPY_FAULTS = {
  same_store: 'The source and the target are the same store.',
  source_empty: 'The source holds nothing: see that it is the right store. Nothing was written.',
  target_not_empty:
    'The target is not empty, and was left as it is: only a copy of this source can be resumed.',
  target_differs: 'The target holds what the source does not, so it is no copy of it. Nothing was written.',
  source_changed:
    'The source was written to meanwhile, so the newest may be missing: stop what writes to it, then resume.',
  not_verified:
    'The target does not hold what the source holds, though the source did not change: do not use it.',
} as const satisfies Record<CopyFault, string>;

/** A catalogue was not copied, or the copy is not to be relied on. The source is as it was. */
export class CopyError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'CopyError';
  /** Why, for programs; the message says it to people. */
  readonly fault: CopyFault;

  /** @param detail where it shows, as in "animal 7"; no secret in it. */
  constructor(fault: CopyFault, detail?: string) {
    super(detail === undefined ? COPY_FAULTS[fault] : `${COPY_FAULTS[fault]} (${detail})`);
    this.fault = fault;
  }
}
