import type { Logger } from 'pino';
import type { HttpLog } from '../../adapters/http/http-log.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { logDestination, prettyStream, visible } from './log-destination.js';
import type { Settings } from './settings.js';

export async function createLogger(
  { logLevel, logFormat }: Settings,
  stderr: NodeJS.WriteStream,
): Promise<Logger> {
  const { pino } = await import('pino');
  const destination = 'fd' in stderr && !stderr.isTTY ? await logDestination(2) : stderr; // else a terminal
  const options = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return logFormat === 'pretty' || (logFormat === 'auto' && stderr.isTTY)
    ? pino({ ...options, hooks: { streamWrite: visible } }, await prettyStream(destination, stderr.isTTY))
    : pino(options, destination);
}

function levelOf({ error, isProbe, keyFault }: Parameters<HttpLog['responded']>[0]) {
  if (error !== undefined) return isUnavailable(error) && error.cause === undefined ? 'warn' : 'error';
  if (keyFault === 'expired' || keyFault === 'revoked') return 'warn';
  return isProbe ? 'debug' : 'info';
}

/**
 * Logs one line for each response: health checks at debug; requests refused under load or late, and those with a key that
 * is no longer valid, at warn; faults at error. Besides, one warning a day (in UTC) for each key that calls a deprecated
 * operation.
 */
export function httpLogTo(logger: Logger, clock: Clock = systemClock): HttpLog {
  const warned = new Set<string>();
  const warnOfDeprecation = (operation: string | undefined, keyId: string, sunset: Date): void => {
    const call = `${dayOf(clock.now())} ${operation} ${keyId}`;
    if (warned.has(call)) return;
    if (warned.size === 10_000) warned.clear(); // bounds the memory
    warned.add(call);
    logger.warn({ operationId: operation, keyId, sunset: dayOf(sunset) }, 'deprecated operation called');
  };
  const responded: HttpLog['responded'] = (request) => {
    const { isProbe: _, error, sunset, ...response } = request;
    if (sunset && response.keyId !== undefined) warnOfDeprecation(response.operation, response.keyId, sunset);
    const level = levelOf(request);
    if (!logger.isLevelEnabled(level)) return;
    const line = { ...response, milliseconds: Math.round(response.milliseconds * 1000) / 1000 };
    // No stack: under overload, or while the store is away, such lines are most of the log.
    const reason = isUnavailable(error) ? { reason: reasonOf(error) } : { err: error };
    logger[level](error === undefined ? line : { ...line, ...reason }, 'responded');
  };
  return { responded };
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** Whether a driven side, such as the store, cannot do its work now. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
  const cause = error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : '';
  return text.includes(cause) ? text : `${text} ${cause}`;
}
