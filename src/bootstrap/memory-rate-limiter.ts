import type { RateLimiterRes } from 'rate-limiter-flexible';
import type { Quota, RateLimit, RateLimiter } from '../adapters/http/rate-limiter.js';

/** Counts in memory, each process for itself: windows of fixed length, which begin with a key's first request. */
export async function memoryRateLimiter(limit: RateLimit): Promise<RateLimiter> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible');
  const counter = new RateLimiterMemory({ points: limit.requests, duration: limit.seconds });
  // It rejects with the same when nothing is left, and for no other reason.
  return { limit, take: (keyId) => counter.consume(keyId).then(quota(true), quota(false)) };
}

const quota =
  (allowed: boolean) =>
  ({ remainingPoints, msBeforeNext }: RateLimiterRes): Quota => ({
    allowed,
    remaining: remainingPoints,
    resetsIn: msBeforeNext,
  });
