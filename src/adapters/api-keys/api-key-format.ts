import { hash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { InvalidParameterError } from '../../domain/errors.js';

/*
 * A managed key is `ast_<environment>_<key id>_<secret>_<crc>`: 8 characters of id, 43 of secret and 6 of
 * CRC-32 over everything before its `_`, each a number in base 62 of fixed width. The joints are `_` so that
 * a double click takes the whole key. The checksum tells a mistyped key without asking any store; it proves
 * nothing else. The parts stand at fixed distances from the right-hand end, and the hash covers the whole
 * text, so that a key has one spelling only.
 */
const MANAGED_KEY = /^ast_[a-z0-9]{1,16}_(?<id>[0-9A-Za-z]{8})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;

const ID_DIGITS = 8;
/** 62^43 is just above 2^256. */
const SECRET_DIGITS = 43;
const CRC_DIGITS = 6;

/** The rule that the environment word of managed keys breaks, or `undefined`. */
export const environmentFault = (environment: string): string | undefined =>
  /^[a-z0-9]{1,16}$/.test(environment) ? undefined : 'must be 1 to 16 lower-case letters (a-z) and digits';

/** A key that never existed before: its id, its text, which is shown once and not kept, and its hash, which is. */
export interface GeneratedApiKey {
  readonly id: string;
  readonly key: string;
  readonly hash: string;
}

/**
 * Draws a new key: 256 secret bits of the operating system's generator, and an id that is equally likely to
 * be any of 62^8.
 * @throws {InvalidParameterError} the environment word breaks the rule of `environmentFault`.
 */
export function generateApiKey(environment: string): GeneratedApiKey {
  const fault = environmentFault(environment);
  if (fault !== undefined) throw new InvalidParameterError([{ field: 'environment', message: fault }]);
  const id = base62(BigInt(randomInt(62 ** ID_DIGITS)), ID_DIGITS);
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_DIGITS);
  const content = `ast_${environment}_${id}_${secret}`;
  const key = `${content}_${checksum(content)}`;
  return { id, key, hash: hashApiKey(key) };
}

/** The id in a managed key; `undefined` for every text that is none, or whose checksum is not right. */
export function readApiKey(text: string): { readonly id: string } | undefined {
  const id = MANAGED_KEY.exec(text)?.groups?.['id'];
  const joint = text.length - CRC_DIGITS - 1;
  return id !== undefined && text.slice(joint + 1) === checksum(text.slice(0, joint)) ? { id } : undefined;
}

/**
 * SHA-256 of the whole key, as managed keys are kept: 64 lower-case hexadecimal digits. A fast hash is right here:
 * 256 random bits cannot be searched.
 */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

/** The same as bytes, to be compared. By way of the text: a buffer out of `hash` costs more than both. */
export const digestApiKey = (key: string): Buffer => Buffer.from(hashApiKey(key), 'hex');

const checksum = (content: string): string => base62(BigInt(crc32(content)), CRC_DIGITS);

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
}
