import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * A managed key is `ast_live_<key id>_<secret>_<crc>`: 8 characters of id, 43 of secret and 6 of CRC-32 over
 * everything before the last `_`, in base62. The checksum detects a mistyped key without a look-up; anyone can
 * compute it. The key has only letters, digits and `_`, so a double click selects it whole.
 */
const MANAGED_KEY = /^(ast_live_([0-9A-Za-z]{8})_[0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a key with 256 secret bits. `id`: 8 of 0-9, A-Z and a-z; default: random. */
export function generateApiKey(id = randomText(8)): { id: string; key: string; hash: string } {
  const content = `ast_live_${id}_${randomText(43)}`;
  const key = `${content}_${checksum(content)}`;
  return { id, key, hash: hashApiKey(key) };
}

/** The id in a managed key; `undefined` for any other text, or if the checksum is wrong. */
export function readApiKeyId(text: string): string | undefined {
  const [, content, id, crc] = MANAGED_KEY.exec(text) ?? [];
  return content !== undefined && checksum(content) === crc ? id : undefined;
}

/** The rule that a static key breaks, or `undefined`: it must be a bearer token (RFC 6750, section 2.1). */
export const staticKeyFault = (key: string): string | undefined =>
  /^[A-Za-z0-9\-._~+/]+=*$/.test(key)
    ? undefined
    : 'must be a bearer token: letters (A-Z, a-z), digits and - . _ ~ + /, then any number of =';

/**
 * Identifies a static key in logs, the same in every process. Not a part of the hash that grants access, which must
 * not appear in logs.
 */
export const staticKeyId = (key: string): string =>
  `static-${hash('sha256', `animal-store static key id\0${key}`, 'hex').slice(0, 12)}`;

/**
 * SHA-256 of the whole key, 64 lower-case hexadecimal digits. A fast hash is enough for stored keys: nobody can
 * search 256 random bits.
 */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

const randomText = (length: number): string =>
  Array.from({ length }, () => DIGITS.charAt(randomInt(DIGITS.length))).join('');

function checksum(content: string): string {
  let text = '';
  for (let rest = crc32(content); text.length < 6; rest = Math.floor(rest / DIGITS.length))
    text = DIGITS.charAt(rest % DIGITS.length) + text;
  return text;
}
