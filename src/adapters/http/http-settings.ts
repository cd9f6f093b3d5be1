import { encodedForLink } from './http-message.js';
import type { RateLimiter } from './rate-limit.js';

/** The settings of the HTTP interface, for every transport. */
export interface HttpSettings {
  /**
   * The path that all operations are below, without a slash at its end. Its last segment is the version.
   * Default: `/v1`.
   */
  readonly basePath: string;
  /**
   * The service's address as clients see it, base path included: what Location and Link begin with. A URL, or a path
   * (`/shop/v1`) for a proxy that strips a prefix. Kept in its ASCII form. Default: the mount of the transport, and the base path.
   */
  readonly publicUrl?: string | undefined;
  /** The address of the staging environment, for the OpenAPI document. Default: none. */
  readonly stagingUrl?: string | undefined;
  /** The largest request body, in bytes. A larger one gets 413. Default: 64 KiB. */
  readonly bodyLimit: number;
  /**
   * The time a request may take, in milliseconds, without the time to read its body. A slower one gets 503.
   * Default: 5000.
   */
  readonly requestDeadline: number;
  /**
   * The time a client may take to send its body, in milliseconds. A slower one gets 408. Servers often allow less.
   * Default: 20,000.
   */
  readonly bodyDeadline: number;
  /**
   * When getPet became deprecated, or will be, to the second. The Deprecation header (RFC 9745) has it.
   * Default: 20 November 2026.
   */
  readonly deprecatedSince: Date;
  /** `off`: getPet gets 410, `operation_removed`. Default: `on`. */
  readonly getPet: 'on' | 'off';
  /** The experimental operations, which may still change, to serve. Default: none. */
  readonly experimental: ReadonlyArray<(typeof EXPERIMENTAL)[number]>;
  /** The origins whose pages may use the service (CORS), as browsers send them. `*` alone: any. Default: none. */
  readonly corsOrigins: readonly string[];
  /**
   * The limit of each API key, for the OpenAPI document. `HttpInterface` takes it from its rate limiter. Default:
   * none.
   */
  readonly rateLimit?: RateLimiter['limit'] | undefined;
  /** Whether createPet takes an Idempotency-Key. `HttpInterface` takes it from its animal store. Default: yes. */
  readonly idempotencyKeys: boolean;
}

/** Every operation that is served only where the settings name it. */
export const EXPERIMENTAL = ['changePet', 'removePet'] as const;

/** When the interface removes getPet. */
export const GET_PET_SUNSET = new Date('2030-12-05T00:00:00Z');

/** The default of each setting. */
export const DEFAULT_HTTP_SETTINGS: Required<HttpSettings> = {
  basePath: '/v1',
  publicUrl: undefined,
  stagingUrl: undefined,
  bodyLimit: 64 * 1024,
  requestDeadline: 5000,
  bodyDeadline: 20_000,
  deprecatedSince: new Date('2026-11-20T00:00:00Z'),
  getPet: 'on',
  experimental: [],
  corsOrigins: [],
  rateLimit: undefined,
  idempotencyKeys: true,
};

/**
 * These settings and no other members, completed by the defaults. `undefined` means the default.
 * @throws {TypeError} one has another type than its default, or is NaN
 */
export function completeSettings(given: Partial<HttpSettings> = {}): HttpSettings {
  const names = Object.keys(DEFAULT_HTTP_SETTINGS) as Array<keyof HttpSettings>;
  const set = names.map((name) => [name, ofUsualType(name, given[name])]);
  const { publicUrl, ...settings } = Object.fromEntries(set) as HttpSettings;
  return { ...settings, publicUrl: publicUrl && inAscii(publicUrl) };
}

/**
 * The value of a setting. A program without a compiler may pass `64kb`, which no length exceeds, or a text for a list:
 * `includes` then finds every part of it.
 */
function ofUsualType(name: keyof HttpSettings, given: unknown): unknown {
  const usual = DEFAULT_HTTP_SETTINGS[name];
  const value = given ?? usual;
  if (usual === undefined || typeOf(value) === typeOf(usual)) return value;
  const types = `${typeOf(usual)}, not ${typeOf(value)}`;
  throw new TypeError(`The setting ${name} must be of the type ${types}`);
}

const typeOf = (value: unknown): string =>
  Number.isNaN(value) ? 'NaN' : Object.prototype.toString.call(value).slice(8, -1);

/** Whether a content policy can name the origin of an address: no IPv6 literal, and no host with a _ (CSP 3, 2.3.1). */
export const fitsPolicy = (address: string): boolean =>
  !URL.canParse(address) || /^[a-z\d.-]+$/.test(new URL(address).hostname);

/** A URL or path as headers can hold it. */
const inAscii = (url: string): string =>
  URL.canParse(url) ? new URL(url).href : encodedForLink(url);
