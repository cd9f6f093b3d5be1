/**
 * The file named for the store cannot be one. The message is one line: the file, what is wrong, what to do.
 * The file is as it was, to the byte.
 */
export class StoreFileError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'StoreFileError';
  /** Absolute path. */
  readonly file: string;

  /** @param problem what is wrong and what to do, as in "is empty: remove it". */
  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`${file} ${problem.replaceAll(/\s+/g, ' ')}.`, options);
    this.file = file;
  }
}

/** What to quote of an error that somebody else threw. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What to do where a file cannot be written. */
export const SEE_WRITABLE = 'see that the file and its folder can be written';
