/** The settings of the HTTP interface, for every transport. */
export interface HttpSettings {
  /** All operations are below this path. Its last segment is `v1`. Default: `/v1`. */
  readonly basePath: string;
  /**
   * The service's address as clients see it, an http or https URL that ends in `/v1`: Location and Link begin with it.
   * Default: none. Location then begins with the base path, and a Link is relative to the request.
   */
  readonly publicUrl: string | undefined;
  /** The address of the staging environment, for the OpenAPI document. Default: none. */
  readonly stagingUrl: string | undefined;
  /** The largest request body, in bytes. A larger one gets 413. Default: 64 KiB. */
  readonly bodyLimit: number;
  /**
   * The time a request may take, in milliseconds, without the time to read its body. A slower one gets 503.
   * Default: 5000.
   */
  readonly requestDeadline: number;
  /** The experimental operations to serve. They may still change. Default: none. */
  readonly experimental: ReadonlyArray<(typeof EXPERIMENTAL)[number]>;
  /** The origins whose pages may use the service (CORS), as browsers send them. `*` alone: any. Default: none. */
  readonly corsOrigins: readonly string[];
}

/** Settings that differ from their defaults. `undefined` means the default. */
export type GivenHttpSettings = {
  readonly [Name in keyof HttpSettings]?: HttpSettings[Name] | undefined;
};

/** Every operation that is served only where the settings name it. */
export const EXPERIMENTAL = ['changePet', 'removePet'] as const;

/** The default of each setting. */
export const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  basePath: '/v1',
  publicUrl: undefined,
  stagingUrl: undefined,
  bodyLimit: 64 * 1024,
  requestDeadline: 5000,
  experimental: [],
  corsOrigins: [],
};

const SERVER_URL_RULE = {
  isValid: (url: string): boolean =>
    URL.canParse(url) && /^https?:\/\/[^\s/@?#][^\s@?#]*\/v1$/.test(url),
  rule: 'must be an http or https URL that ends in /v1, without user and query',
};

/** The rules of settings, each as the rest of a sentence that begins with the name of the setting. */
export const HTTP_SETTING_RULES = {
  basePath: {
    // Without the segments `.` and `..`: clients resolve these before they send a path.
    isValid: (path: string): boolean => /^(?:\/(?!\.\.?\/)[\w.~-]+)*\/v1$/.test(path),
    rule: 'must be a path that ends in /v1, such as /animals/v1',
  },
  publicUrl: SERVER_URL_RULE,
  stagingUrl: SERVER_URL_RULE,
  bodyLimit: {
    isValid: (bytes: number): boolean => Number.isSafeInteger(bytes) && bytes > 0,
    rule: 'must be a positive integer',
  },
  requestDeadline: {
    // Beyond 2^31 - 1 a timer fires at once.
    isValid: (milliseconds: number): boolean => milliseconds >= 1 && milliseconds < 2 ** 31,
    rule: 'must be from 1 to 2147483647 milliseconds',
  },
  corsOrigins: {
    // Exactly as browsers send them: another spelling would never match.
    isValid: (origins: readonly string[]): boolean =>
      String(origins) === '*' || origins.every(isOrigin),
    rule: 'must be * alone, or origins such as https://animals.example',
  },
};

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  // Not `url.origin`: that is "null" for the schemes of apps and extensions.
  return url !== null && text === `${url.protocol}//${url.host}` && !text.includes('*');
}

/**
 * These settings, completed by the defaults.
 * @throws {TypeError} naming every setting that breaks its rule
 */
export function completeSettings(given: GivenHttpSettings = {}): HttpSettings {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings: HttpSettings = { ...DEFAULT_HTTP_SETTINGS, ...Object.fromEntries(set) };
  const faults = Object.entries(HTTP_SETTING_RULES).flatMap(([name, { isValid, rule }]) => {
    const value = settings[name as keyof typeof HTTP_SETTING_RULES];
    return value === undefined || isValid(value as never) ? [] : [`${name} ${rule}`];
  });
  if (faults.length > 0) throw new TypeError(`The settings are not valid: ${faults.join('; ')}.`);
  const { publicUrl } = settings;
  // In ASCII (punycode, percent-encoding): it goes into headers.
  return { ...settings, publicUrl: publicUrl && new URL(publicUrl).href };
}
