import { readDuration } from '../adapters/cli/duration.js';

/*
 * Readers of single values. Each throws an Error whose message reads on from the setting's name. None takes
 * a value approximately: what is not exactly of the form is refused.
 */

/** No timer of Node.js lasts longer than 2^31 - 1 milliseconds: beyond it, it ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const readMilliseconds =
  (minimum: number) =>
  (text: string): number => {
    const milliseconds = readDuration(text);
    if (milliseconds >= minimum && milliseconds <= LONGEST_TIMER) return milliseconds;
    throw new Error(`must be from ${minimum}ms to 24d`);
  };

export const readInteger =
  (minimum: number, maximum: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new Error(`must be an integer from ${minimum} to ${maximum}`);
  };

const MEBIBYTE = 1024 * 1024;

/** A size in bytes, up to 16 MiB: `65536`, `64kb`, `1mb`; a kilobyte has 1,024 bytes. */
export function readBytes(text: string): number {
  const { amount = '', unit = '' } = /^(?<amount>\d{1,9})(?<unit>b|kb|mb)?$/i.exec(text)?.groups ?? {};
  const factor = { kb: 1024, mb: MEBIBYTE }[unit.toLowerCase()] ?? 1;
  const bytes = Number(amount) * factor;
  if (bytes >= 1 && bytes <= 16 * MEBIBYTE) return bytes;
  throw new Error('must be a size from 1b to 16mb, like 256kb');
}

/** A day (`2026-11-20`, at 00:00 UTC) or an instant of RFC 3339. */
export function readDate(text: string): Date {
  const date = new Date(text);
  const wellFormed = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/.test(text);
  // 31 February is no date, but Date makes another day of it.
  const day = Date.parse(text.slice(0, 10));
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10));
  if (wellFormed && exists && !Number.isNaN(date.getTime())) return date;
  throw new Error('must be a date like 2026-11-20');
}

export const oneOf =
  <const T extends string>(values: readonly T[]) =>
  (text: string): T => {
    const found = values.find((value) => value === text);
    if (found !== undefined) return found;
    throw new Error(`must be one of ${values.join(', ')}`);
  };

/** A server's address, full and without a slash at its end. */
export function readServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (plain && url.pathname.endsWith('/v1') && !/[\s?#]/.test(text)) return url.href;
  throw new Error('must be an http or https URL that ends in /v1, without a query');
}
