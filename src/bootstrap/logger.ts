import type { Logger } from 'pino';
import type { HttpLog } from '../adapters/http/http-log.js';
import type { DeprecatedCall } from '../adapters/http/http-interface.js';
import type { Clock } from '../application/ports/clock.js';
import { isAnimalStoreError } from '../domain/errors.js';
import type { Io } from './command-line.js';
import type { Settings } from './settings.js';

/** A log on stderr. */
export async function createLogger({ logLevel, logFormat }: Settings, { stderr }: Io): Promise<Logger> {
  const { pino } = await import('pino');
  const options = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (logFormat === 'pretty' || (logFormat === 'auto' && stderr.isTTY)) {
    const { prettyFactory } = await import('pino-pretty');
    const form = { singleLine: true, translateTime: 'HH:MM:ss.l', ignore: 'url,docs,store' };
    const format = prettyFactory({ ...form, colorize: stderr.isTTY });
    return pino(options, { write: (line) => void stderr.write(format(line)) });
  }
  if (!('fd' in stderr)) return pino(options, stderr); // a stream of tests
  // Lines are written together: one write for each costs more than the rest of a small request.
  return pino(options, pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 100 }));
}

/** Logs one line for each response, and one more with the cause of a 5xx. */
export const httpLogTo = (logger: Logger): HttpLog => ({
  responded: (request) =>
    logger.info({ ...request, milliseconds: Math.round(request.milliseconds * 1000) / 1000 }, 'responded'),
  failed(requestId, error) {
    // No stack: under overload, or while the store is away, such lines are most of the log.
    if (!isUnavailable(error)) logger.error({ requestId, err: error }, 'failed');
    else if (error.cause === undefined) logger.warn({ requestId, reason: reasonOf(error) }, 'refused');
    else logger.error({ requestId, reason: reasonOf(error) }, 'failed');
  },
});

/** Logs one warning a day (in UTC) for each key and deprecated operation. */
export function deprecatedCallLogTo(logger: Logger, clock: Clock): (call: DeprecatedCall) => void {
  const logged = new Set<string>();
  let today = 0;
  return ({ operationId, keyId, sunset }) => {
    const day = Math.floor(clock.now().getTime() / DAY);
    if (day !== today || logged.size >= 10_000) logged.clear();
    today = day;
    const before = logged.size;
    if (logged.add(`${operationId} ${keyId}`).size === before) return;
    const date = sunset.toISOString().slice(0, 10);
    logger.warn({ operationId, keyId, sunset: date }, 'deprecated operation called');
  };
}

/** In milliseconds. */
const DAY = 86_400_000;

/** Whether a driven side, such as the store, cannot do its work now. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
  const cause = error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : '';
  return text.includes(cause) ? text : `${text} ${cause}`;
}
