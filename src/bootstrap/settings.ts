import { readFileSync } from 'node:fs';
import { environmentFault } from '../adapters/api-keys/api-key.js';
import { staticKeyFault } from '../adapters/api-keys/api-key.js';
import { DEFAULT_HTTP_SETTINGS, type HttpSettings } from '../adapters/http/http-settings.js';
import { OPERATIONS } from '../adapters/http/operations.js';
import {
  oneOf,
  readBytes,
  readDate,
  readInteger,
  readMilliseconds,
  readServerUrl,
} from './setting-values.js';

/** What the service runs on, from the environment. */
export interface Settings {
  /** The address to listen on (`HOST`): a name, or an IP address; `127.0.0.1` when not set. */
  readonly host: string;
  /** The port to listen on (`PORT`), 0 to 65,535: 0 takes a free one; 8080 when not set. */
  readonly port: number;
  /** What the HTTP interface runs on (`BASE_PATH`, `PUBLIC_URL`, `BODY_LIMIT` and the like). */
  readonly http: HttpSettings;
  /** Where animals are kept (`STORE_URL`); its scheme chooses the `StoreFactory`. May hold a password. */
  readonly storeUrl: string;
  /**
   * Modules that bring adapters of others (`ADAPTERS`): specifiers, relative ones from the working directory.
   */
  readonly adapters: readonly string[];
  /** The keys of `API_KEYS`, `API_KEY` and `API_KEYS_FILE` together: secrets. */
  readonly staticKeys: readonly string[];
  /** The word in new managed keys (`KEY_ENVIRONMENT`): `live` when not set. */
  readonly keyEnvironment: string;
  /**
   * How long requests are still taken after the signal to stop (`DRAIN_DELAY`), in milliseconds: when not
   * set, none on a host that only this machine reaches, else 5,000.
   */
  readonly drainDelay: number;
  /**
   * How long stopping may take (`SHUTDOWN_DEADLINE`), in milliseconds, the delay above apart: 25,000 when not
   * set.
   */
  readonly shutdownDeadline: number;
  /** The least of what is logged (`LOG_LEVEL`). */
  readonly logLevel: LogLevel;
  /** How the log is written (`LOG_FORMAT`); `auto`: pretty on a terminal, JSON lines elsewhere. */
  readonly logFormat: 'auto' | 'pretty' | 'json';
}

/** From all to nothing: a level stands for itself and all that follow. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Settings that cannot be used: every fault, none of them telling a secret. Nothing was opened or changed. */
export class SettingsError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'SettingsError';
  /** One line for each setting that is wrong, beginning with its name. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Settings by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads all settings. One that is empty counts as not set.
 * @throws {SettingsError} naming every setting that is wrong
 */
export function readSettings(environment: Environment): Settings {
  const faults: string[] = [];
  /** The setting's value, or `fallback` if it is not set; a value that `read` refuses by throwing is a fault. */
  const setting = <T>(name: string, fallback: T, read: (text: string) => T): T => {
    const text = environment[name];
    if (text === undefined || text === '') return fallback;
    try {
      return read(text);
    } catch (error) {
      faults.push(`${name} ${error instanceof Error ? error.message : 'is not valid'}`);
      return fallback;
    }
  };

  const defaults = DEFAULT_HTTP_SETTINGS;
  const host = setting('HOST', '127.0.0.1', readHost);
  const settings: Settings = {
    host,
    port: setting('PORT', 8080, readInteger(0, 65_535)),
    http: {
      basePath: setting('BASE_PATH', defaults.basePath, readBasePath),
      publicUrl: setting('PUBLIC_URL', undefined, readServerUrl),
      stagingUrl: setting('STAGING_URL', undefined, readServerUrl),
      bodyLimit: setting('BODY_LIMIT', defaults.bodyLimit, readBytes),
      requestDeadline: setting('REQUEST_DEADLINE', defaults.requestDeadline, readMilliseconds(1)),
      maxInFlight: setting('MAX_IN_FLIGHT', defaults.maxInFlight, readInteger(1, 100_000)),
      deprecatedSince: setting('DEPRECATED_SINCE', defaults.deprecatedSince, readDeprecatedSince),
      getPet: setting('GET_PET', defaults.getPet, oneOf(['on', 'off'])),
      corsOrigins: setting('CORS_ORIGINS', defaults.corsOrigins, readOrigins),
    },
    storeUrl: setting('STORE_URL', 'sqlite:data/animal-store.db', readStoreUrl),
    adapters: setting('ADAPTERS', [], list),
    staticKeys: [
      ...setting('API_KEYS', [], readKeys),
      ...setting('API_KEY', [], readKeys),
      ...setting('API_KEYS_FILE', [], readKeysFile),
    ],
    keyEnvironment: setting('KEY_ENVIRONMENT', 'live', readKeyEnvironment),
    drainDelay: setting('DRAIN_DELAY', isLoopback(host) ? 0 : 5_000, readMilliseconds(0)),
    shutdownDeadline: setting('SHUTDOWN_DEADLINE', 25_000, readMilliseconds(1)),
    logLevel: setting('LOG_LEVEL', 'info', oneOf(LOG_LEVELS)),
    logFormat: setting('LOG_FORMAT', 'auto', oneOf(['auto', 'pretty', 'json'])),
  };
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** Whether only this machine can reach the host. */
export const isLoopback = (host: string): boolean =>
  /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i.test(host);

/** The values of a setting that takes several, separated by commas or lines. */
const list = (text: string): string[] =>
  text
    .split(/[,\r\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

function readHost(text: string): string {
  if (/[\s/]/.test(text)) throw new Error('must be a host name or an address');
  return text.replace(/^\[(.*)\]$/, '$1'); // as it stands in URLs
}

function readBasePath(text: string): string {
  if (/^(?:\/[\w.~-]+)*\/v1$/.test(text)) return text;
  throw new Error('must be a path like /v1 or /animals/v1, its last segment v1');
}

/** No more than the form: whether something answers to the scheme is known when the adapters are loaded. */
function readStoreUrl(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:/.test(text)) return text;
  throw new Error('must begin with the scheme of a store, as in sqlite:data/animal-store.db or memory:');
}

function readDeprecatedSince(text: string): Date {
  const since = readDate(text);
  if (since <= OPERATIONS.getPet.deprecation.sunset) return since;
  throw new Error('must not be after the sunset of the operation (RFC 9745, 4)');
}

/** Patterns are not among what may stand there, though a URL may have a star in its host. */
const isOrigin = (text: string): boolean =>
  URL.canParse(text) && new URL(text).origin === text && !text.includes('*');

/** Each as browsers send it, letter by letter: one that is spelled otherwise would never match. */
function readOrigins(text: string): string[] {
  const origins = list(text);
  if (origins.length === 1 && origins[0] === '*') return origins;
  const wrong = origins.flatMap((origin, index) => (isOrigin(origin) ? [] : [index + 1]));
  if (wrong.length === 0) return origins;
  throw new Error(
    `must be * or origins like https://animals.example, without a path: not so number ${wrong.join(', ')}`,
  );
}

function readKeyEnvironment(text: string): string {
  const fault = environmentFault(text);
  if (fault !== undefined) throw new Error(fault);
  return text;
}

/** Keys are named by their place only: what is wrong with one must not tell it. */
function readKeys(text: string): string[] {
  const keys = list(text);
  const wrong = keys.flatMap((key, index) => (staticKeyFault(key) === undefined ? [] : [index + 1]));
  if (wrong.length > 0)
    throw new Error(`holds keys that are not bearer tokens (RFC 6750): number ${wrong.join(', ')}`);
  return keys;
}

function readKeysFile(file: string): string[] {
  const keys = readKeys(readText(file));
  if (keys.length === 0) throw new Error('names a file that holds no key');
  return keys;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new Error(`names a file that cannot be read (${code})`, { cause: error });
  }
}
