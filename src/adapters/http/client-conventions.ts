/* What a client of the interface does to retry a create and to read on: the typed client and the docs page. */

/** An idempotency key: 128 random bits. Not `crypto.randomUUID`, which browsers lack on pages without https. */
export const randomKey = (): string => crypto.getRandomValues(new BigUint64Array(2)).join('-');

/** The id that the next page begins behind, by a Link header of the service (RFC 8288). */
export const nextAfter = (link: string | null): string | undefined =>
  /[?&]after=(-?\d+)[^<>]*>; rel="next"/.exec(link ?? '')?.[1];
