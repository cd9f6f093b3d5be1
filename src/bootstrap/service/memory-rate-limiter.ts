import type { RateLimiter } from '../../adapters/http/rate-limit.js';

/**
 * Counts in memory, each process for itself: windows of fixed length, which begin with a key's first request. Keeps one
 * window for each key: only valid keys are counted.
 * By hand: a package would bring stores and clocks for the same few lines.
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
      let window = windows.get(keyId);
      if (window === undefined || window.endsAt <= time) {
        window = { endsAt: time + limit.seconds * 1000, used: 0 };
        windows.set(keyId, window);
      }
      window.used += 1;
      return {
        allowed: window.used <= limit.requests,
        remaining: Math.max(0, limit.requests - window.used),
        resetsIn: window.endsAt - time,
      };
    },
  };
}
