import { pino, type Logger } from 'pino';
import type { HttpLog } from '../adapters/http/http-log.js';
import type { DeprecatedCallLog } from '../application/deprecated-call-counter.js';
import { StoreUnavailableError } from '../domain/errors.js';
import type { Settings } from './settings.js';

/** A log on stderr: stdout is for the output of commands. */
export async function createLogger({ logLevel, logFormat }: Settings, terminal: boolean): Promise<Logger> {
  const options = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (logFormat === 'pretty' || (logFormat === 'auto' && terminal)) {
    const { default: pretty } = await import('pino-pretty');
    return pino(
      options,
      pretty({
        destination: 2,
        sync: true,
        singleLine: true,
        translateTime: 'HH:MM:ss.l',
        ignore: 'url,docs,store',
      }),
    );
  }
  // Lines are written together: a write of its own for each would cost more than the rest of a small request.
  return pino(options, pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 100 }));
}

/** What the HTTP side tells, as log lines: one for every answer, and one more for a 5xx: what was behind it. */
export const httpLogTo = (logger: Logger): HttpLog => ({
  answered(request) {
    const milliseconds = Math.round(request.milliseconds * 1000) / 1000;
    logger.info({ ...request, milliseconds }, 'answered');
  },
  failed(requestId, error) {
    // With nothing behind it (too busy, too late, closing) there is no fault to look for. Under overload that is
    // most of the log, and a stack would cost more than the refusal.
    if (error instanceof StoreUnavailableError && error.cause === undefined) {
      logger.warn({ requestId, reason: error.message }, 'refused');
      return;
    }
    logger.error({ requestId, err: error }, 'failed');
  },
});

/** What is told of deprecated calls. Warnings: each asks somebody to do something. */
export const deprecatedCallLogTo = (logger: Logger): DeprecatedCallLog => ({
  firstOfDay({ operationId, keyId, sunset }) {
    const day = sunset.toISOString().slice(0, 10);
    logger.warn({ operationId, keyId, sunset: day }, 'a deprecated operation is called, first time today');
  },
  notWritten(error) {
    logger.warn({ err: error }, 'counts of deprecated calls are not written yet, and will be tried again');
  },
  lost(calls) {
    logger.warn(`${calls} deprecated calls are not counted`);
  },
});
