import { readFileSync } from 'node:fs';
import { staticKeyFault } from '../../adapters/api-keys/api-key.js';
import { EXPERIMENTAL, HTTP_SETTING_RULES } from '../../adapters/http/http-settings.js';
import { isLoopback } from './host.js';
import * as reader from './setting-readers.js';

/** One setting of the service, an environment variable. */
interface Setting {
  readonly name: string;
  /** Read if the variable is empty or not set. Omit it to leave the setting `undefined`. */
  readonly default?: string;
  /** A value to show in help and messages. Default: `default`. */
  readonly example?: string;
  readonly read: (text: string) => unknown;
  /** What may be logged of it. Default: the text, without the password and the options of a URL. */
  readonly shown?: (text: string) => string | number;
  readonly help: string;
}

const port = reader.integer(0, 65_535);

const trimmed = reader.checked(String, {
  isValid: (text) => text !== '' && text === text.trim(),
  rule: 'must be a text without blanks around it',
});

const experimental = reader.oneOf(...EXPERIMENTAL);

function staticKeys(text: string): readonly string[] {
  const keys = reader.list(text);
  for (const [index, key] of keys.entries()) {
    const fault = staticKeyFault(key);
    if (fault !== undefined) reader.refuse(`entry ${index + 1} ${fault}`);
  }
  return keys;
}

/** All settings. `serve --help` and docs/operations/settings.md follow this table. */
const TABLE = {
  host: {
    name: 'HOST',
    default: '127.0.0.1',
    read: trimmed,
    help: 'Address to listen on. 0.0.0.0 or :: lets other machines connect.',
  },
  port: {
    name: 'PORT',
    default: '8080',
    read: port,
    help: 'Port to listen on. 0 takes a free one.',
  },
  basePath: {
    name: 'BASE_PATH',
    default: '/v1',
    read: reader.checked(String, HTTP_SETTING_RULES.basePath),
    help: 'Path of the operations, ending in v1.',
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    example: 'https://animals.example.org/v1',
    read: reader.checked(String, HTTP_SETTING_RULES.publicUrl),
    help: 'Address that clients use, ending in v1. Set it behind a proxy.',
  },
  stagingUrl: {
    name: 'STAGING_URL',
    example: 'https://staging.animals.example.org/v1',
    read: reader.checked(String, HTTP_SETTING_RULES.stagingUrl),
    help: 'Address of your staging service, ending in v1, for the OpenAPI document.',
  },
  storeUrl: {
    name: 'STORE_URL',
    default: 'sqlite:data/animal-store.db',
    read: trimmed,
    help: 'Store: sqlite:PATH, mongodb://..., memory:, or one that ADAPTERS brings.',
  },
  adapters: {
    name: 'ADAPTERS',
    default: '',
    example: './shelf.mjs',
    read: reader.list,
    help: 'Modules to load, each exporting an adapter, a ContainerModule of Inversify.',
  },
  staticKeys: {
    name: 'API_KEYS',
    default: '',
    example: 'a-long-random-text,another-one',
    read: staticKeys,
    shown: (text: string) => reader.list(text).length,
    help: 'Static API keys, which may do everything, separated by commas or lines.',
  },
  bodyLimit: {
    name: 'BODY_LIMIT',
    default: '64kb',
    read: reader.size(16),
    help: 'Largest request body, up to 16mb. Larger ones get 413.',
  },
  requestDeadline: {
    name: 'REQUEST_DEADLINE',
    default: '5s',
    read: reader.duration(1),
    help: 'Longest time for a request, without reading its body. Slower ones get 503.',
  },
  drainDelay: {
    name: 'DRAIN_DELAY',
    example: '10s',
    read: reader.duration(0),
    help: 'How long to keep serving after SIGTERM. Default: 0s on a loopback HOST, else 5s.',
  },
  shutdownDeadline: {
    name: 'SHUTDOWN_DEADLINE',
    default: '25s',
    read: reader.duration(1),
    help: 'Longest time to finish requests when the service stops.',
  },
  maxInFlight: {
    name: 'MAX_IN_FLIGHT',
    default: '256',
    read: reader.integer(1, 100_000),
    help: 'Largest number of requests in progress at the same time. More get 503.',
  },
  corsOrigins: {
    name: 'CORS_ORIGINS',
    default: '',
    example: 'https://shop.example.org',
    read: reader.checked(reader.list, HTTP_SETTING_RULES.corsOrigins),
    help: 'Origins of web pages that may call the service (CORS), or *.',
  },
  adminPort: {
    name: 'ADMIN_PORT',
    example: '9090',
    read: port,
    help: 'Port of /metrics, for Prometheus, on the same HOST. 0 takes a free one.',
  },
  experimental: {
    name: 'EXPERIMENTAL',
    default: '',
    example: 'changePet,removePet',
    read: (text: string) => reader.list(text).map(experimental),
    help: 'Experimental operations to serve: changePet, removePet. They may change.',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    read: reader.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    help: 'Lowest level to log: trace, debug, info, warn, error, fatal or silent.',
  },
} satisfies Record<string, Setting>;

type Table = typeof TABLE;

/**
 * The values of all settings: `undefined` for one that is not set and has no default. `staticKeys` are secret, and
 * `storeUrl` may hold a password.
 */
export type Settings = {
  readonly [Key in keyof Table]:
    | ReturnType<Table[Key]['read']>
    | (Table[Key] extends { readonly default: string } ? never : undefined);
} & {
  /** Never `undefined`. Default: 0 on a loopback host, else 5000. */
  readonly drainDelay: number;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting, in the order of the help. */
export const SETTINGS: readonly Setting[] = Object.values(TABLE);

/** Invalid settings. The message has a line for each, and no secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  /** A retry cannot succeed. */
  readonly isPermanent = true;

  constructor(faults: readonly string[]) {
    super(['Invalid settings:', ...faults].join('\n  '));
  }
}

/**
 * Reads all settings. An empty variable counts as not set. Instead of `NAME`, `NAME_FILE` may name a file that holds
 * the value.
 * @throws {SettingsError} naming every invalid setting.
 */
export const readSettings = (environment: Environment): Settings =>
  readEnvironment(environment).settings;

/** As `readSettings`, with what may be logged of them. Reads each file once. */
export function readEnvironment(environment: Environment): {
  readonly settings: Settings;
  /** The settings that differ from their defaults, by name: API keys as a number, passwords masked. */
  readonly shown: Readonly<Record<string, string | number>>;
} {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  const shown: Record<string, string | number> = {};
  for (const [key, setting] of Object.entries<Setting>(TABLE)) {
    const { name, default: fallback, shown: show = masked } = setting;
    try {
      const text = givenText(name, environment) ?? fallback;
      values[key] = valueOf(setting, text);
      if (text !== undefined && text !== fallback) shown[name] = show(text);
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  if (faults.length > 0) throw new SettingsError(faults);
  // The only default that depends on another setting.
  values['drainDelay'] ??= isLoopback(String(values['host'])) ? 0 : 5000;
  return { settings: values as Settings, shown };
}

function valueOf(setting: Setting, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return setting.read(text);
  } catch (error) {
    const { name, example = setting.default } = setting;
    // In cmd.exe, `set PORT=3001 && npm start` sets '3001 '.
    const hint = text === text.trim() ? '' : ': it begins or ends with a blank';
    const { message } = error as Error;
    throw new Error(`${name} ${message}, as in ${name}=${example}${hint}`, { cause: error });
  }
}

/** The text of a setting, from its variable or its file, if either is set. */
function givenText(name: string, environment: Environment): string | undefined {
  const text = environment[name] || undefined;
  const file = environment[`${name}_FILE`] || undefined;
  if (file === undefined) return text;
  if (text !== undefined) throw new Error(`${name} must not be set beside ${name}_FILE`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${name}_FILE names a file that cannot be read: ${code}`, { cause: error });
  }
}

/** Hides the user, the password and the options of a URL, also of one with too few slashes. */
const masked = (text: string): string =>
  text.replace(/:(\/*).*@/s, ':$1***@').replace(/\?.*/s, '?***');
