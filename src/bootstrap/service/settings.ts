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
const DEFAULT_STORE_URL = 'sqlite:data/animal-store.db';

/** All settings. `readSettings`, `serve --help` and docs/operations/settings.md follow this table. */
const TABLE = {
  host: setting(
    'HOST',
    '127.0.0.1',
    read.host,
    'Address to listen on. 0.0.0.0 or :: lets other machines connect.',
  ),
  port: setting('PORT', '8080', PORT, 'Port to listen on. 0 takes a free one.'),
  adminPort: optional(
    'ADMIN_PORT',
    PORT,
    'Port of /metrics, /livez and /readyz of this process. 0 takes a free one.',
  ),
  basePath: setting(
    'BASE_PATH',
    '/v1',
    read.basePath,
    'Path of the operations, ending in v1. Set it to serve below another path.',
  ),
  publicUrl: optional(
    'PUBLIC_URL',
    read.serverUrl,
    'Address that clients use, ending in v1. Set it behind a proxy.',
  ),
  stagingUrl: optional(
    'STAGING_URL',
    read.serverUrl,
    'Address of your staging service, ending in v1, for the OpenAPI document.',
  ),
  bodyLimit: setting(
    'BODY_LIMIT',
    '64kb',
    read.bytes,
    'Largest request body, up to 16mb. Larger ones get 413.',
  ),
  requestDeadline: setting(
    'REQUEST_DEADLINE',
    '5s',
    read.duration(1),
    'Longest time for a request. Slower ones get 503.',
  ),
  maxInFlight: setting(
    'MAX_IN_FLIGHT',
    '256',
    read.integer(1, 100_000),
    'Most requests in progress at the same time. More get 503.',
  ),
  deprecatedSince: setting(
    'DEPRECATED_SINCE',
    '2026-11-20',
    read.deprecatedSince,
    'Day from which responses call getPet deprecated: the day that clients were told.',
  ),
  getPet: setting(
    'GET_PET',
    'on',
    read.oneOf('on', 'off'),
    'off removes getPet: it responds 410. Try it before the sunset.',
  ),
  experimental: setting(
    'EXPERIMENTAL',
    '',
    read.experimental,
    'Experimental operations to serve: changePet, removePet. They may change.',
  ),
  rateLimit: optional(
    'RATE_LIMIT',
    read.rateLimit,
    'Most requests of each API key, such as 100/10s. More get 429.',
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    '',
    read.networks,
    'Proxies in front, such as 10.0.0.0/8, so that the log shows clients.',
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    '',
    read.origins,
    'Origins of web pages that may call the service (CORS), or *.',
  ),
  storeUrl: setting(
    'STORE_URL',
    DEFAULT_STORE_URL,
    String,
    'Store: sqlite:PATH, mongodb://..., memory:, or one that ADAPTERS brings.',
  ),
  storeUrlFile: optional(
    'STORE_URL_FILE',
    read.urlFile,
    'File with the URL of the store, in place of STORE_URL, such as a mounted secret.',
  ),
  adapters: setting(
    'ADAPTERS',
    '',
    read.list,
    'Modules to load, such as ./shelf.mjs, each exporting an adapter.',
  ),
  apiKeys: setting(
    'API_KEYS',
    '',
    read.keys,
    'Static API keys, which may do everything, separated by commas.',
  ),
  apiKeysFile: optional(
    'API_KEYS_FILE',
    read.keysFile,
    'File with static API keys, one a line, such as a mounted secret.',
  ),
  drainDelay: optional(
    'DRAIN_DELAY',
    read.duration(0),
    'How long to serve on after SIGTERM, until proxies know (default: 5s; loopback 0s).',
  ),
  shutdownDeadline: setting(
    'SHUTDOWN_DEADLINE',
    '25s',
    read.duration(1),
    'Longest time to finish requests when the service stops.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    LOG_LEVEL,
    'Lowest level to log: trace, debug, info, warn, error, fatal or silent.',
  ),
  logFormat: setting(
    'LOG_FORMAT',
    'auto',
    LOG_FORMAT,
    'pretty, json, or auto, which is pretty on a terminal and JSON elsewhere.',
  ),
};

type Values = { readonly [K in keyof typeof TABLE]: ReturnType<(typeof TABLE)[K]['read']> };

/** What the service runs on. The keys are secrets. */
export type Settings = Values & {
  readonly drainDelay: number;
  /** The keys of `API_KEYS` and `API_KEYS_FILE`. */
  readonly staticKeys: readonly string[];
};

export const SETTINGS: readonly Setting[] = Object.values(TABLE);

const NAMES = SETTINGS.map(({ name }) => name);

export type Environment = Readonly<Record<string, string | undefined>>;

/** Invalid settings. The message names all of them, and no secret. Nothing was opened or changed. */
export class SettingsError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'SettingsError';
  /** Only a person can mend it. */
  readonly isLasting = true;
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

/** STORE_URL_FILE is used wherever STORE_URL is. */
function isUsed(name: string, used: readonly string[]): boolean {
  return used.includes(name === 'STORE_URL_FILE' ? 'STORE_URL' : name);
}

/** Reads all settings, with defaults in place of the invalid ones. `faults` names those that are used. */
export function parseSettings(
  environment: Environment,
  used: readonly string[] = NAMES,
): { settings: Settings; faults: string[] } {
  const faults: string[] = [];
  const addFault = (name: string, rule: string): void => {
    if (isUsed(name, used)) faults.push(`${name} ${rule}`);
  };
  const valueOf = ({ name, default: fallback, read: reader }: Setting): unknown => {
    try {
      return reader(environment[name] || fallback);
    } catch (error) {
      addFault(name, (error as Error).message);
      return reader(fallback);
    }
  };
  const entries = Object.entries<Setting>(TABLE).map(([key, line]) => [key, valueOf(line)]);
  const values = Object.fromEntries(entries) as Values;
  const { port, adminPort, apiKeys, apiKeysFile = [], storeUrl, storeUrlFile, host } = values;

  if (port !== 0 && port === adminPort) addFault('ADMIN_PORT', 'must differ from PORT');
  if (environment['STORE_URL'] && storeUrlFile !== undefined)
    addFault('STORE_URL_FILE', 'must not be set beside STORE_URL');

  const settings = {
    ...values,
    storeUrl: storeUrlFile ?? storeUrl,
    staticKeys: [...apiKeys, ...apiKeysFile],
    drainDelay: values.drainDelay ?? (isLoopback(host) ? 0 : 5000),
  };
  return { settings, faults };
}

/**
 * Names the settings that differ from their defaults, in one line: a misspelt one is missing there. Shows keys as their
 * number, and no user, password or option of the store's URL.
 */
export function changedSettings(environment: Environment): string {
  const changed = SETTINGS.flatMap(({ name, default: text }) => {
    const value = environment[name] || text;
    return value === text ? [] : `${name}=${withoutSecrets(name, value)}`;
  });
  return `settings that differ from their defaults: ${changed.join(', ') || 'none'}`;
}

function withoutSecrets(name: string, value: string): string {
  if (name === 'API_KEYS') return String(read.keys(value).length);
  if (name !== 'STORE_URL') return value.replaceAll(/\s+/g, ' ');
  return value.replace(/\/\/.*@/s, '//***@').replace(/\?.*/s, '?***');
}

/** Whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(host);
}
