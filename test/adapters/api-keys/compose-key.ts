const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 by its definition (ISO 3309), as 6 base62 digits: a second opinion on the adapter's. */
export function checksumOf(content: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(content)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = ~crc >>> 0;
  const digits: string[] = [];
  for (let place = 0; place < 6; place += 1) {
    digits.unshift(DIGITS.charAt(rest % 62));
    rest = Math.floor(rest / 62);
  }
  return digits.join('');
}

/** A key of any content, with the checksum that belongs to it. */
export const withChecksum = (content: string): string => `${content}_${checksumOf(content)}`;

/** The number that base62 digits stand for. */
export const numberOf = (digits: string): bigint =>
  digits.split('').reduce((number, digit) => number * 62n + BigInt(DIGITS.indexOf(digit)), 0n);

export const BASE62_DIGITS = DIGITS.split('');
