/** What can be set of the HTTP interface, whatever the transport. */
export interface HttpSettings {
  /** The path that all operations are below, without a slash at its end; its last segment is the version. */
  readonly basePath: string;
  /**
   * The service's address as clients see it, base path included: a URL, which makes Location and Link absolute, or a
   * path (`/shop/v1`), which stands in them in place of the base path where something in front takes a prefix off.
   */
  readonly publicUrl?: string | undefined;
  /** The address of the service's staging environment, as the OpenAPI document names it. */
  readonly stagingUrl?: string | undefined;
  /** The largest request body, in bytes; a larger one is answered 413. */
  readonly bodyLimit: number;
  /** How long a request may take, the reading of its body apart, in milliseconds. */
  readonly requestDeadline: number;
  /** How many requests may be worked on at the same time; what is beyond is answered 503 at once. */
  readonly maxInFlight: number;
  /**
   * Since when, or from when on, getPet is deprecated, to the second: the Deprecation header (RFC 9745) says
   * it.
   */
  readonly deprecatedSince: Date;
  /** `off`: getPet answers 410, `operation_removed`. */
  readonly getPet: 'on' | 'off';
  /**
   * The origins whose pages may use the service (CORS, by the Fetch standard), as browsers send them; `*` alone is
   * any. None: browsers refuse.
   */
  readonly corsOrigins: readonly string[];
}

/**
 * What holds where a setting is not given: paths below `/v1`, bodies up to 256 KiB, 5 s a request, 256
 * requests at a time, no origin of other pages.
 */
export const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  basePath: '/v1',
  bodyLimit: 256 * 1024,
  requestDeadline: 5000,
  maxInFlight: 256,
  deprecatedSince: new Date('2026-11-20T00:00:00Z'),
  getPet: 'on',
  corsOrigins: [],
};

/** Where clients find the operations: an absolute URL where it is known, else a path. */
export const baseUrl = ({ publicUrl, basePath }: Pick<HttpSettings, 'publicUrl' | 'basePath'>): string =>
  publicUrl ?? basePath;
