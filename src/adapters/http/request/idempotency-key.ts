import type { IdempotencyKey } from '../../../application/animal-store.js';
import type { Principal } from '../../../application/ports/authenticator.js';
import { InvalidParameterError } from '../../../domain/errors.js';
import type { HttpRequest } from '../http-message.js';

/** The header that makes repeating a create safe (draft-ietf-httpapi-idempotency-key-header), in lower case. */
const HEADER = 'idempotency-key';

/** 1 to 255 visible ASCII characters but `"` and `\`, bare or in double quotes: the quotes are not part of the key. */
export const IDEMPOTENCY_KEY_PATTERN = String.raw`^(?:[!#-\[\]-~]{1,255}|"[!#-\[\]-~]{1,255}")$`;

const wellFormed = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/**
 * The request token of a create, if the client sent an Idempotency-Key. It belongs to the API key: those of
 * others never meet it.
 * @throws {InvalidParameterError} the header is not of its form, or was sent more than once
 */
export function readRequestToken(
  request: HttpRequest,
  principal: Principal | undefined,
): IdempotencyKey | undefined {
  const sent = request.header(HEADER);
  if (sent === undefined) return undefined;
  if (request.isRepeated(HEADER) || !wellFormed.test(sent)) {
    throw new InvalidParameterError([
      {
        field: 'Idempotency-Key',
        message: String.raw`must be sent once, with 1 to 255 visible ASCII characters but " and \, in double quotes or without`,
      },
    ]);
  }
  return { scope: principal?.keyId ?? 'anyone', key: sent.replaceAll('"', '') };
}
