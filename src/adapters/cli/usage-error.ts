/** The command line is wrong: the message says how, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
