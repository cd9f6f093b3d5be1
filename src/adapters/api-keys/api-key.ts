import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * A managed key is `ast_live_<key id>_<secret>_<crc>`: 8 characters of id, 43 of secret and 6 of checksum over
 * everything before the last `_`, in base62. The checksum detects a mistyped key without a look-up; anyone can
 * compute it. The key has only letters, digits and `_`, so a double click selects it whole.
 */
const MANAGED_KEY = /^(ast_live_([0-9A-Za-z]{8})_[0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a key with 256 secret bits. `id`: 8 digits in base62. Default: random. */
export function generateApiKey(id = randomText(8)): { id: string; key: string; hash: string } {
  const content = `ast_live_${id}_${randomText(43)}`;
  const key = `${content}_${checksum(content)}`;
  return { id, key, hash: hashApiKey(key) };
}

/** The id in a managed key; `undefined` for any other text, or if the checksum is wrong. */
export function apiKeyIdIn(text: string): string | undefined {
  const [, content, id, crc] = MANAGED_KEY.exec(text) ?? [];
  return content !== undefined && checksum(content) === crc ? id : undefined;
}

/** The rule that a static key breaks, or `undefined`: it must be a bearer token (RFC 6750, section 2.1). */
export const staticKeyFault = (key: string): string | undefined =>
  /^[A-Za-z0-9\-._~+/]+=*$/.test(key)
    ? undefined
    : 'must be a bearer token: letters (A-Z, a-z), digits and - . _ ~ + /, then any number of =';

/**
 * Identifies a static key in logs, and as a scope of idempotency keys: the same in every process. Not from
 * `hashApiKey`: logs must not hold the hash that keys are compared with.
 */
export const staticKeyId = (key: string): string =>
  `static-${hash('sha256', `animal-store static key id\0${key}`, 'hex').slice(0, 12)}`;

/**
 * The hash of a key, as `ApiKeyRecord` has it. A fast hash is enough: managed keys have 256 random bits, and hashes of
 * static keys are never stored.
 */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

const randomText = (length: number): string =>
  Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');

/** CRC-32, as six digits in base62. */
function checksum(content: string): string {
  const crc = crc32(content);
  const digits = [5, 4, 3, 2, 1, 0].map((place) => Math.floor(crc / 62 ** place) % 62);
  return digits.map((digit) => BASE62.charAt(digit)).join('');
}
