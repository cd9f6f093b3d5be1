import { detailedError } from './error-responses.js';
import type { HeaderFields } from './http-message.js';

/** Counts the requests of each API key. */
export interface RateLimiter {
  /** How many requests one API key may send in a window of time: in `RateLimit-Policy` and in the OpenAPI document. */
  readonly limit: {
    /** 1 or more. */
    readonly requests: number;
    /** The length of the window, in whole seconds: 1 or more. */
    readonly seconds: number;
  };
  /**
   * Counts a request. The request waits for it.
   * @param keyId the public id of a valid API key
   * @throws {UnavailableError} it cannot count now: the request gets 503
   */
  take(keyId: string): Promise<{
    /** Whether this request is within the limit. */
    readonly allowed: boolean;
    /** The number of further requests in this window: 0 or more. */
    readonly remaining: number;
    /** The time until the window ends, in milliseconds. */
    readonly resetsIn: number;
  }>;
}

/**
 * Returns a function that counts a request, and returns the headers that tell the client its quota
 * (draft-ietf-httpapi-ratelimit-headers; only this function knows the draft, which may still change).
 * It throws an `HttpError`, `rate_limited`, with the same headers.
 */
export function requestCounter(limiter: RateLimiter): (keyId: string) => Promise<HeaderFields> {
  const { requests, seconds } = limiter.limit;
  const policy = { 'RateLimit-Policy': `"default";q=${requests};w=${seconds}` };
  return async (keyId) => {
    const { allowed, remaining, resetsIn } = await limiter.take(keyId);
    const headers = {
      ...policy,
      RateLimit: `"default";r=${remaining};t=${wholeSeconds(resetsIn)}`,
    };
    if (allowed) return headers;
    throw detailedError('rate_limited', limiter.limit, {
      ...headers,
      'Retry-After': String(wholeSeconds(resetsIn)),
    });
  };
}

/** Rounded up, so that a client that waits as told is not too early. */
const wholeSeconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));
