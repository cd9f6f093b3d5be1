import type { Logger } from 'pino';
import type { HttpLog } from '../../adapters/http/http-log.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import { logDestination, prettyStream, visible } from './log-destination.js';
import type { Settings } from './settings.js';

/** A log on stderr. */
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

function levelOf(error: unknown, isProbe = false) {
  if (error === undefined) return isProbe ? 'debug' : 'info';
  return isUnavailable(error) && error.cause === undefined ? 'warn' : 'error';
}

/**
 * Logs one line for each response: health checks at debug, requests refused under load or late at warn, faults at error.
 * Besides, what an operator has to know: one warning a day (in UTC) for each key that calls a deprecated operation, the
 * use of keys that are no longer valid, and every removal.
 */
export function httpLogTo(logger: Logger, clock: Clock = systemClock): HttpLog {
  const warnOfDeprecation = oncePerDay(clock);
  const responded: HttpLog['responded'] = ({ isProbe, error, sunset, ...response }) => {
    const { keyFault, requestId, clientAddress, keyId, operation } = response;
    if (sunset && keyId !== undefined && warnOfDeprecation(`${operation} ${keyId}`))
      logger.warn({ operationId: operation, keyId, sunset: dayOf(sunset) }, 'deprecated operation called');
    if (keyFault === 'expired' || keyFault === 'revoked')
      logger.warn(
        { event: `api_key_${keyFault}_used`, requestId, clientAddress },
        `an API key was used that is ${keyFault}`,
      );
    if (operation === 'removePet' && response.status === 204) {
      const petId = decodeURIComponent(response.path.split('/').at(-1) ?? '');
      logger.info({ event: 'pet_removed', requestId, keyId, petId }, `removed the animal ${petId}`);
    }
    const level = levelOf(error, isProbe);
    if (!logger.isLevelEnabled(level)) return;
    const line = { ...response, milliseconds: Math.round(response.milliseconds * 1000) / 1000 };
    // No stack: under overload, or while the store is away, such lines are most of the log.
    const reason = isUnavailable(error) ? { reason: reasonOf(error) } : { err: error };
    logger[level](error === undefined ? line : { ...line, ...reason }, 'responded');
  };
  return { responded };
}

/** Returns whether this is the first call of the day with a text. */
function oncePerDay(clock: Clock): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => {
    const today = `${dayOf(clock.now())} ${text}`;
    if (seen.has(today)) return false;
    if (seen.size === 10_000) seen.clear(); // bounds the memory
    seen.add(today);
    return true;
  };
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
