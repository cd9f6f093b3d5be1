import type { IdempotencyKey } from '../../application/animal-store.js';
import { InvalidParameterError } from '../../domain/errors.js';
import type { HttpRequest } from './http-message.js';

/** The rule of a key, as the end of a sentence. */
export const IDEMPOTENCY_KEY_RULE = String.raw`1 to 255 visible ASCII characters other than \ and "`;

/**
 * Matches the header. The key does not include the optional double quotes. Also a pattern of JSON Schema, where some
 * engines need `\[`: a linter forbids it in a literal.
 */
export const IDEMPOTENCY_KEY = new RegExp(
  String.raw`^(?:[!#-\[\]-~]{1,255}|"[!#-\[\]-~]{1,255}")$`,
);

/**
 * Reads the header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header), if the client sent one. A repeated
 * header does not match the pattern, which has no space.
 * @param keyId of the API key: equal idempotency keys of different API keys never collide
 * @throws {InvalidParameterError} the header is malformed or repeated
 */
export function readIdempotencyKey(
  request: HttpRequest,
  keyId: string,
): IdempotencyKey | undefined {
  const sent = request.header('idempotency-key');
  if (sent === undefined) return undefined;
  if (!IDEMPOTENCY_KEY.test(sent)) {
    const message = `must be sent once, with ${IDEMPOTENCY_KEY_RULE}`;
    throw new InvalidParameterError([{ field: 'Idempotency-Key', message }]);
  }
  return { scope: keyId, key: sent.replaceAll('"', '') };
}
