import { InvalidArgumentError } from 'commander';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { staticKeyFault } from '../../adapters/api-keys/api-key.js';
import {
  EXPERIMENTAL,
  GET_PET_SUNSET,
  type HttpSettings,
} from '../../adapters/http/http-settings.js';
import type { RateLimiter } from '../../adapters/http/rate-limit.js';

/*
 * Readers of single values. Each throws an Error whose message continues a sentence that starts with the name of the
 * setting or option. No message quotes the value: it may be a secret.
 */

export function refuse(rule: string): never {
  throw new InvalidArgumentError(rule);
}

/**
 * Reads a number with one of the units, in the smallest of them. Zero needs no unit. By hand: packages for durations
 * and sizes also accept fractions, negative values and years.
 */
const quantity =
  (rule: string, units: ReadonlyMap<string, number>, minimum: number, maximum: number) =>
  (text: string): number => {
    if (text === '0' && minimum === 0) return 0;
    const [, amount, unit = ''] = /^(\d{1,9})([a-z]*)$/i.exec(text) ?? [];
    const factor = units.get(unit.toLowerCase());
    if (amount === undefined || factor === undefined) return refuse(rule);
    const value = Number(amount) * factor;
    return value >= minimum && value <= maximum ? value : refuse(rule);
  };

export function integer(minimum: number, maximum: number) {
  const rule = `must be an integer from ${minimum} to ${maximum}`;
  return quantity(rule, new Map([['', 1]]), minimum, maximum);
}

const DAY = 86_400_000;
const TIME_UNITS = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY }));

/**
 * A length of time in milliseconds: `500ms`, `5s`, `2m`, `24h`, `90d`, or `0`. A day has 24 hours.
 * @param days the longest. Default: 24, because timers of Node.js fire at once beyond 2^31 - 1 milliseconds
 */
export function duration(minimum: 0 | 1, days = 24) {
  const rule = `must be a duration from ${minimum}ms to ${days}d, such as 5s`;
  return quantity(rule, TIME_UNITS, minimum, days * DAY);
}

/** Requests in a window of whole seconds: `100/10s`. */
export function rateLimit(text: string): RateLimiter['limit'] {
  const [, requests, window] = /^([1-9]\d{0,8})\/(\d{1,5}[smhd])$/.exec(text) ?? [];
  const seconds = window === undefined ? 0 : duration(0, 99_999)(window) / 1000;
  if (seconds >= 1 && seconds <= 86_400) return { requests: Number(requests), seconds };
  return refuse('must be requests and a window from 1s to 1d, such as 100/10s');
}

const SIZE_UNITS = new Map(Object.entries({ b: 1, kb: 1024, mb: 2 ** 20 }));

/** A size in bytes: `64kb`, `1mb`. A kilobyte has 1,024 bytes. */
export const bytes = quantity(
  'must be a size with a unit, from 1b to 16mb, such as 256kb',
  SIZE_UNITS,
  1,
  2 ** 24,
);

/** Since when getPet is deprecated: a day, from 00:00 UTC. */
export function deprecatedSince(text: string): Date {
  const since = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? text : Number.NaN);
  // Date takes 31 February for 3 March.
  if (since <= GET_PET_SUNSET && since.toISOString().startsWith(text)) return since;
  return refuse('must be a date such as 2026-11-20, not after the sunset of getPet');
}

export const oneOf =
  <const T extends string>(...values: readonly T[]) =>
  (text: string): T => {
    const found = values.find((value) => value === text);
    return found ?? refuse(`must be one of ${values.join(', ')}`);
  };

/** Several values, separated by commas or line breaks. */
export function list(text: string): readonly string[] {
  return text.split(/[,\r\n]/).flatMap((part) => part.trim() || []);
}

/** A list of valid values. An invalid one is named by its position, counted from 1. */
export const listOf =
  (rule: string, isValid: (value: string) => boolean) =>
  (text: string): readonly string[] => {
    const values = list(text);
    const wrong = values.flatMap((value, index) => (isValid(value) ? [] : [index + 1]));
    if (wrong.length === 0) return values;
    const which = wrong.join(', ');
    const entries = wrong.length === 1 ? `entry ${which} is` : `entries ${which} are`;
    return refuse(`${rule}: ${entries} not valid`);
  };

export const experimental = listOf(
  `must hold experimental operations, which are ${EXPERIMENTAL.join(' and ')}`,
  (id) => EXPERIMENTAL.some((each) => each === id),
) as (text: string) => HttpSettings['experimental'];

/** Addresses, and networks in CIDR notation (RFC 4632). Whoever trusts every address (/0) trusts every client. */
export const networks = listOf('must hold IP addresses or networks such as 10.0.0.0/8', (text) => {
  const [address = '', prefix, ...more] = text.split('/');
  if (isIP(address) === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  const bits = isIP(address) === 6 ? 128 : 32;
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits;
});

/** A host name or an address, without the brackets of IPv6. */
export function host(text: string): string {
  if (!/^[^\s/]+$/.test(text)) refuse('must be a host name or an address');
  return text.replace(/^\[(.*)\]$/, '$1');
}

/** A path that ends in `/v1`, without the segments `.` and `..`: clients resolve these before they send a path. */
export function basePath(text: string): string {
  if (/^(?:\/(?!\.\.?\/)[\w.~-]+)*\/v1$/.test(text)) return text;
  return refuse('must be a path that ends in /v1, such as /animals/v1');
}

export function serverUrl(text: string): string {
  const href = URL.parse(text)?.href ?? '';
  if (/^https?:\/\/[^@?#]+\/v1$/.test(href) && !/[\s?#@]/.test(text)) return href;
  return refuse('must be an http or https URL that ends in /v1, without user and query');
}

/**
 * Origins as browsers write them: scheme, host and port. Built from the parts of the URL: for the schemes of apps and
 * extensions, its `origin` is "null".
 */
const originList = listOf('must be * or origins such as https://animals.example', (origin) => {
  const url = URL.parse(origin);
  if (url === null || origin.includes('*')) return false;
  const hasHost = url.host !== '' || url.protocol === 'file:';
  return hasHost && `${url.protocol}//${url.host}` === origin;
});

/** `*`, or origins exactly as browsers send them: another spelling would never match. */
export function origins(text: string): readonly string[] {
  return text.trim() === '*' ? ['*'] : originList(text);
}

export const keys = listOf(
  'must hold bearer tokens (RFC 6750)',
  (key) => staticKeyFault(key) === undefined,
);

function readSmallFile(file: string): string {
  try {
    const found = statSync(file);
    if (found.isFile() && found.size <= 2 ** 20) return readFileSync(file, 'utf8');
  } catch (error) {
    refuse(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return refuse('must name a regular file of at most a megabyte');
}

export function keysFile(file: string): readonly string[] {
  const text = readSmallFile(file);
  return list(text).length > 0 ? keys(text) : refuse('names a file without a key');
}

/** The URL of a store alone in a file, such as a mounted secret. */
export function urlFile(file: string): string {
  const text = readSmallFile(file).trim();
  return /^\S+$/.test(text) ? text : refuse('must name a file with one URL and nothing else');
}
