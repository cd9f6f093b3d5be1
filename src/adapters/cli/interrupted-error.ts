/** A signal ended the command, in order. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  /** As shells tell it: 128 and the number of the signal, 130 for Ctrl-C. */
  readonly exitCode: number;

  constructor(signal: string, exitCode: number) {
    super(`Interrupted by ${signal}.`);
    this.exitCode = exitCode;
  }
}
