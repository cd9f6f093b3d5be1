import * as read from './setting-values.js';

/** A line of the table. `text` is read in place of an environment variable that is not set or empty. */
const setting = <T>(name: string, text: string, reader: (text: string) => T, help: string) => ({
  name,
  default: text,
  read: reader,
  help,
});

/** A setting that may be missing. */
const optional = <T>(name: string, reader: (text: string) => T, help: string) =>
  setting(name, '', (text) => (text === '' ? undefined : reader(text)), help);

type Setting = ReturnType<typeof setting<unknown>>;

const PORT = read.integer(0, 65_535);
const LOG_LEVEL = read.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');
const LOG_FORMAT = read.oneOf('auto', 'pretty', 'json');
const STORE = 'sqlite:data/animal-store.db';

/** All settings. `readSettings`, `serve --help` and docs/operations/settings.md follow this table. */
const TABLE = {
  host: setting('HOST', '127.0.0.1', read.host, 'address to listen on'),
  port: setting('PORT', '8080', PORT, 'port to listen on; 0 takes a free one'),
  reusePort: setting(
    'REUSE_PORT',
    'off',
    read.reusePort,
    'on: several services share the port (Linux)',
  ),
  adminPort: optional('ADMIN_PORT', PORT, 'port of /metrics, for Prometheus; 0 takes a free one'),
  basePath: setting('BASE_PATH', '/v1', read.basePath, 'path of the operations, ending in v1'),
  publicUrl: optional('PUBLIC_URL', read.serverUrl, 'address that clients use, ending in v1'),
  stagingUrl: optional('STAGING_URL', read.serverUrl, 'address of staging, ending in v1'),
  bodyLimit: setting('BODY_LIMIT', '64kb', read.bytes, 'largest request body, up to 16mb'),
  requestDeadline: setting(
    'REQUEST_DEADLINE',
    '5s',
    read.duration(1),
    'longest time for a request',
  ),
  maxInFlight: setting(
    'MAX_IN_FLIGHT',
    '256',
    read.integer(1, 100_000),
    'most requests at the same time',
  ),
  deprecatedSince: setting(
    'DEPRECATED_SINCE',
    '2026-11-20',
    read.deprecatedSince,
    'deprecation of getPet',
  ),
  getPet: setting('GET_PET', 'on', read.oneOf('on', 'off'), 'off: getPet responds 410'),
  experimental: setting(
    'EXPERIMENTAL',
    '',
    read.experimental,
    'changeStatus, removePet: may still change',
  ),
  rateLimit: optional('RATE_LIMIT', read.rateLimit, 'requests of each API key, such as 100/10s'),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    '',
    read.networks,
    'addresses of proxies, such as 10.0.0.0/8',
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    '',
    read.origins,
    'origins of web pages that may call, or *',
  ),
  storeUrl: setting(
    'STORE_URL',
    STORE,
    String,
    'sqlite:PATH, mongodb://..., memory:, or by ADAPTERS',
  ),
  adapters: setting(
    'ADAPTERS',
    '',
    read.list,
    'modules to load, each exporting adapter, a ContainerModule',
  ),
  apiKeys: setting(
    'API_KEYS',
    '',
    read.keys,
    'static API keys, separated by commas or line breaks',
  ),
  apiKeysFile: optional('API_KEYS_FILE', read.keysFile, 'file with static API keys'),
  keyEnvironment: setting(
    'KEY_ENVIRONMENT',
    'live',
    read.keyEnvironment,
    'word in new managed API keys',
  ),
  drainDelay: optional(
    'DRAIN_DELAY',
    read.duration(0),
    'delay of the stop (default: 5s; loopback 0s)',
  ),
  shutdownDeadline: setting(
    'SHUTDOWN_DEADLINE',
    '25s',
    read.duration(1),
    'longest time for the stop',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    LOG_LEVEL,
    'trace, debug, info, warn, error, fatal or silent',
  ),
  logFormat: setting(
    'LOG_FORMAT',
    'auto',
    LOG_FORMAT,
    'pretty, json, or auto: pretty on a terminal',
  ),
};

/** Settings that are gone, with what takes their place. */
const REMOVED: Readonly<Record<string, string>> = {
  API_KEY: 'use API_KEYS',
  WORKERS: 'run several services with REUSE_PORT=on',
};

type Values = { readonly [K in keyof typeof TABLE]: ReturnType<(typeof TABLE)[K]['read']> };

/** What the service runs on. The keys are secrets. */
export type Settings = Values & {
  readonly drainDelay: number;
  /** The keys of `API_KEYS` and `API_KEYS_FILE`. */
  readonly staticKeys: readonly string[];
};

export const SETTINGS: readonly Setting[] = Object.values(TABLE);

export type Environment = Readonly<Record<string, string | undefined>>;

/** Invalid settings. The message names all of them, and no secret. Nothing was opened or changed. */
export class SettingsError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'SettingsError';
  /** One line for each invalid setting, starting with its name. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Reads all settings. An empty one counts as not set.
 * @param used the names of those that must be valid. Default: all.
 * @throws {SettingsError} naming every invalid setting.
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  used?: readonly string[],
): Settings {
  const { settings, faults } = parseSettings(environment, used);
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** Reads all settings, with defaults in place of the invalid ones. `faults` names those that are used. */
export function parseSettings(
  environment: Environment,
  used: readonly string[] = SETTINGS.map(({ name }) => name),
): { settings: Settings; faults: string[] } {
  const faults = Object.entries(REMOVED).flatMap(([name, instead]) =>
    environment[name] ? [`${name} was removed: ${instead}`] : [],
  );
  const valueOf = ({ name, default: fallback, read: reader }: Setting): unknown => {
    try {
      return reader(environment[name] || fallback);
    } catch (error) {
      if (used.includes(name)) faults.push(`${name} ${(error as Error).message}`);
      return reader(fallback);
    }
  };
  const entries = Object.entries<Setting>(TABLE).map(([key, line]) => [key, valueOf(line)]);
  const values = Object.fromEntries(entries) as Values;
  const staticKeys = [values.apiKeys, values.apiKeysFile ?? []].flat();
  if (used.includes('ADMIN_PORT') && values.port !== 0 && values.port === values.adminPort)
    faults.push('ADMIN_PORT must differ from PORT');
  const drainDelay = values.drainDelay ?? (isLoopback(values.host) ? 0 : 5000);
  return { settings: { ...values, staticKeys, drainDelay }, faults };
}

/** Whether only this machine can reach the host. */
export const isLoopback = (host: string): boolean =>
  /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(host);
