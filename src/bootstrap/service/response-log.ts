import type { Level, Logger } from 'pino';
import type { HttpLog, RespondedRequest } from '../../adapters/http/http-log.js';
import { isUnavailable, reasonOf } from './errors.js';

/** Logs one line for each response. */
export const responseLog = (logger: Logger): HttpLog => ({
  responded(request) {
    const level = levelOf(request);
    if (!logger.isLevelEnabled(level)) return;
    const { error, isProbe: _, ...line } = request;
    // No stack: under overload, or while the store is unreachable, such lines are most of the log.
    const cause = isUnavailable(error) ? { reason: reasonOf(error) } : { err: error };
    const milliseconds = Math.round(line.milliseconds * 1000) / 1000;
    logger[level]({ ...line, ...cause, milliseconds }, 'responded');
  },
});

/** Warnings are requests that were refused at capacity, which have no cause, and uses of expired or revoked keys. */
function levelOf({ error, isProbe, keyFault }: RespondedRequest): Level {
  if (isUnavailable(error) && error.cause === undefined) return 'warn';
  if (error !== undefined) return 'error';
  if (keyFault === 'expired' || keyFault === 'revoked') return 'warn';
  return isProbe ? 'debug' : 'info';
}
