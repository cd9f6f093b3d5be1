import type { Level, Logger } from 'pino';
import type { HttpLog, RespondedRequest } from '../../adapters/http/http-log.js';
import { isUnavailable, reasonOf } from './errors.js';

/** Logs one line for each response. */
export const responseLog = (logger: Logger): HttpLog => ({
  responded(request) {
    const level = levelOf(request);
    if (!logger.isLevelEnabled(level)) return;
    const { error, isHealthCheck: _, ...line } = request;
    // No stack for a 503: under overload, or while the store is unreachable, these are most of the log.
    const cause = isUnavailable(error) ? { reason: reasonOf(error) } : { err: error };
    const milliseconds = Math.round(line.milliseconds * 1000) / 1000;
    logger[level]({ ...line, ...cause, milliseconds }, 'responded');
  },
});

function levelOf({ error, isHealthCheck, keyFault }: RespondedRequest): Level {
  // Without a cause the 503 is our own: too many requests, past the deadline, or stopping.
  if (isUnavailable(error) && error.cause === undefined) return 'warn';
  if (error !== undefined) return 'error';
  if (keyFault === 'expired' || keyFault === 'revoked') return 'warn';
  return isHealthCheck ? 'debug' : 'info';
}
