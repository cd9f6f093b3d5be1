import type { RateLimiter } from '../../adapters/http/rate-limit.js';

/**
 * Counts in memory, each process for itself: windows of fixed length, which begin with a key's first request. Keeps one
 * window for each key: only valid keys are counted.
 * @param now a clock in whole milliseconds that never goes back, unlike the machine's
 */
export function memoryRateLimiter(
  limit: RateLimiter['limit'],
  now: () => number = () => Math.floor(performance.now()),
): RateLimiter {
  const windows = new Map<string, { readonly endsAt: number; used: number }>();
  return {
    limit,
    async take(keyId) {
      const time = now();
      const last = windows.get(keyId);
      const window =
        last && last.endsAt > time ? last : { endsAt: time + limit.seconds * 1000, used: 0 };
      window.used += 1;
      windows.set(keyId, window);
      return {
        allowed: window.used <= limit.requests,
        remaining: Math.max(0, limit.requests - window.used),
        resetsIn: window.endsAt - time,
      };
    },
  };
}
