import { pino, type Logger } from 'pino';
import type { HttpLog } from '../adapters/http/http-log.js';
import type { DeprecatedCall } from '../adapters/http/http-interface.js';
import { UnavailableError } from '../domain/errors.js';
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
  responded(request) {
    const milliseconds = Math.round(request.milliseconds * 1000) / 1000;
    logger.info({ ...request, milliseconds }, 'answered');
  },
  failed(requestId, error) {
    // With nothing behind it (too busy, too late, closing) there is no fault to look for. Under overload that is
    // most of the log, and a stack would cost more than the refusal.
    if (error instanceof UnavailableError && error.cause === undefined) {
      logger.warn({ requestId, reason: error.message }, 'refused');
      return;
    }
    logger.error({ requestId, err: error }, 'failed');
  },
});

/** Logs one warning a day (UTC) for each key and deprecated operation. */
export function deprecatedCallLogTo(logger: Logger): (call: DeprecatedCall) => void {
  const logged = new Set<string>();
  let today = '';
  return ({ operationId, keyId, sunset }) => {
    const day = new Date().toISOString().slice(0, 10);
    if (day !== today || logged.size >= 10_000) logged.clear();
    today = day;
    const id = `${operationId} ${keyId}`;
    if (logged.has(id)) return;
    logged.add(id);
    logger.warn(
      { operationId, keyId, sunset: sunset.toISOString().slice(0, 10) },
      'deprecated operation called',
    );
  };
}
