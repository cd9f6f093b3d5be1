/**
 * Why an operation on managed keys is not possible: no key has the id; or the key cannot be rotated, being revoked,
 * expired or replaced already.
 */
export type ApiKeyErrorCode = 'unknown_key' | 'not_rotatable';

const MESSAGES = {
  unknown_key: 'No API key has this id',
  not_rotatable: 'The API key cannot be rotated',
} as const satisfies Record<ApiKeyErrorCode, string>;

/**
 * An operation on managed keys is not possible. The message does not repeat the id that was given: it may be
 * a whole key, given by mistake.
 */
export class ApiKeyError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'ApiKeyError';
  /** Why, for programs. */
  readonly code: ApiKeyErrorCode;

  constructor(code: ApiKeyErrorCode, why?: string) {
    super(why === undefined ? `${MESSAGES[code]}.` : `${MESSAGES[code]}: ${why}.`);
    this.code = code;
  }
}
