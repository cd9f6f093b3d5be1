import { InvalidCursorError } from '../domain/errors.js';
import { PET_STATUSES, type PetStatus } from '../domain/pet.js';

/*
 * A cursor says "after this id, in the list with this filter". It is 26 lower-case hexadecimal digits:
 * version (1), filter (1: 0 for none, else the status's place), id as two's complement (16), CRC-32 of the
 * digits before it (8). Fixed-width hexadecimal has one spelling for each value, so nothing altered is
 * accepted. It grants nothing and hides nothing: the checksum is against accidents, not against people.
 */
const VERSION = '1';

const filterDigit = (status: PetStatus | undefined): string =>
  status === undefined ? '0' : String(PET_STATUSES.indexOf(status) + 1);

/** CRC-32 as in ISO 3309, over ASCII text; written out because this layer depends on no runtime. */
function crc32(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}

/** The cursor for what follows the animal `after` in the list filtered by `status`. */
export function writeCursor(after: bigint, status: PetStatus | undefined): string {
  const content = VERSION + filterDigit(status) + BigInt.asUintN(64, after).toString(16).padStart(16, '0');
  return content + crc32(content);
}

/**
 * The id after which the page begins.
 * @throws {InvalidCursorError} it is not, to the letter, a cursor that `writeCursor` makes for this status.
 */
export function readCursor(cursor: unknown, status: PetStatus | undefined): bigint {
  if (typeof cursor !== 'string' || !/^[0-9a-f]{26}$/.test(cursor)) throw new InvalidCursorError();
  const content = cursor.slice(0, 18);
  const expected = VERSION + filterDigit(status);
  if (crc32(content) !== cursor.slice(18) || !content.startsWith(expected)) throw new InvalidCursorError();
  return BigInt.asIntN(64, BigInt(`0x${content.slice(2)}`));
}
