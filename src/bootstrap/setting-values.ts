import { readFileSync } from 'node:fs';
import { environmentFault, staticKeyFault } from '../adapters/api-keys/api-key.js';
import { GET_PET_SUNSET } from '../adapters/http/http-settings.js';

/*
 * Readers of single values. Each throws an Error whose message continues a sentence that starts with the name of the
 * setting. No message quotes the value: it may be a secret.
 */

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time in milliseconds: `500ms`, `5s`, `2m`, `24h`, `90d`, or `0`. A day has 24 hours. */
export function duration(text: string): number {
  const { amount, unit } = /^(?<amount>\d{1,9})(?<unit>ms|s|m|h|d)$/.exec(text)?.groups ?? {};
  if (text === '0') return 0;
  if (amount === undefined) throw new Error('must be a duration such as 500ms, 5s, 2m, 24h or 90d');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

/** A duration for a timer. Timers of Node.js fire at once beyond 2^31 - 1 milliseconds. */
export const milliseconds = (minimum: number) => (text: string) => {
  const read = duration(text);
  if (read >= minimum && read < 2 ** 31) return read;
  throw new Error(`must be from ${minimum}ms to 24d`);
};

/** None by default: it depends on the host. */
export const drainDelay = (text: string): number | undefined =>
  text === '' ? undefined : milliseconds(0)(text);

export const integer = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new Error(`must be an integer from ${minimum} to ${maximum}`);
};

const MEBIBYTE = 1024 * 1024;

/** A size in bytes: `65536`, `64kb`, `1mb`. A kilobyte has 1,024 bytes. */
export function bytes(text: string): number {
  const { amount = '', unit = '' } = /^(?<amount>\d{1,9})(?<unit>b|kb|mb)?$/i.exec(text)?.groups ?? {};
  const size = Number(amount) * ({ kb: 1024, mb: MEBIBYTE }[unit.toLowerCase()] ?? 1);
  if (size >= 1 && size <= 16 * MEBIBYTE) return size;
  throw new Error('must be a size from 1b to 16mb, such as 256kb');
}

const DATE = /^(?<day>\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/;

/** Since when getPet is deprecated: a day (`2026-11-20`, at 00:00 UTC) or an instant of RFC 3339. */
export function deprecatedSince(text: string): Date {
  const { day } = DATE.exec(text)?.groups ?? {};
  const since = new Date(day === undefined ? Number.NaN : text);
  // Date takes 31 February for 3 March.
  const exists = !Number.isNaN(since.getTime()) && new Date(`${day}`).toISOString().startsWith(`${day}T`);
  if (!exists) throw new Error('must be a date such as 2026-11-20');
  if (since <= GET_PET_SUNSET) return since;
  throw new Error(
    `must not be later than the sunset of getPet, ${GET_PET_SUNSET.toISOString().slice(0, 10)}`,
  );
}

export const oneOf =
  <const T extends string>(...values: readonly T[]) =>
  (text: string): T => {
    const found = values.find((value) => value === text);
    if (found !== undefined) return found;
    throw new Error(`must be one of ${values.join(', ')}`);
  };

/** Several values, separated by commas or line breaks. */
export const list = (text: string): readonly string[] =>
  text.split(/[,\r\n]/).flatMap((part) => part.trim() || []);

/** A list of valid values. An invalid one is named by its position, counted from 1. */
const listOf = (rule: string, isValid: (value: string) => boolean) => (text: string) => {
  const wrong = list(text).flatMap((value, index) => (isValid(value) ? [] : [index + 1]));
  if (wrong.length === 0) return list(text);
  throw new Error(`${rule}: correct number ${wrong.join(', ')}`);
};

/** A text that matches. */
const matching = (pattern: RegExp, rule: string) => (text: string) => {
  if (pattern.test(text)) return text;
  throw new Error(rule);
};

const hostText = matching(/^[^\s/]+$/, 'must be a host name or an address');

/** A host name or an address, without the brackets of IPv6. */
export const host = (text: string): string => hostText(text).replace(/^\[(.*)\]$/, '$1');

export const basePath = matching(
  /^(?:\/[\w.~-]+)*\/v1$/,
  'must be a path that ends in /v1, such as /animals/v1',
);

/** The full address of a server, or none. */
export function serverUrl(text: string): string | undefined {
  if (text === '') return undefined;
  const href = URL.parse(text)?.href ?? '';
  if (/^https?:\/\/[^@?#]+\/v1$/.test(href) && !/[\s?#@]/.test(text)) return href;
  throw new Error('must be an http or https URL that ends in /v1, without user and query');
}

/** Only the form: `ADAPTERS` may bring other schemes. */
export const storeUrl = matching(
  /^[a-z][a-z0-9+.-]*:/,
  'must start with the scheme of a store, such as sqlite:data/animal-store.db or memory:',
);

const originList = listOf('must be * or origins such as https://animals.example', (origin) => {
  return URL.parse(origin)?.origin === origin && !origin.includes('*');
});

/** `*`, or origins exactly as browsers send them: another spelling would never match. */
export const origins = (text: string): readonly string[] => (text.trim() === '*' ? ['*'] : originList(text));

export function keyEnvironment(text: string): string {
  const fault = environmentFault(text);
  if (fault === undefined) return text;
  throw new Error(fault);
}

export const keys = listOf('must hold bearer tokens (RFC 6750)', (key) => staticKeyFault(key) === undefined);

export function keysFile(file: string): readonly string[] {
  if (file === '') return [];
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    throw new Error(`names a file that cannot be read (${code})`, { cause });
  }
  if (list(text).length === 0) throw new Error('names a file without a key');
  return keys(text);
}
