const MESSAGES = {
  unknown_key: 'No API key has this id',
  not_rotatable: 'The API key cannot be rotated',
} as const;

export type ApiKeyErrorCode = keyof typeof MESSAGES;

/**
 * An operation on managed keys is not possible. The message does not repeat the id that was given: it may be
 * a whole key, given by mistake.
 */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
  readonly code: ApiKeyErrorCode;

  constructor(code: ApiKeyErrorCode, why?: string) {
    super(why === undefined ? `${MESSAGES[code]}.` : `${MESSAGES[code]}: ${why}.`);
    this.code = code;
  }
}
