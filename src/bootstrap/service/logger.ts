import { Writable } from 'node:stream';
import type { DestinationStream, Logger } from 'pino';
import type { HttpLog } from '../../adapters/http/http-log.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { isAnimalStoreError, isError } from '../../domain/errors.js';
import type { Settings } from './settings.js';

/** Makes the log of `serve`, as `LOG_LEVEL` and `LOG_FORMAT` say. Lines go to `stderr`, the process's or another stream. */
export async function createLogger(
  { logLevel, logFormat }: Pick<Settings, 'logLevel' | 'logFormat'>,
  stderr: NodeJS.WriteStream,
): Promise<Logger> {
  const { pino } = await import('pino');
  const destination = 'fd' in stderr && !stderr.isTTY ? await logDestination(2) : stderr; // else a terminal
  const options = { level: logLevel, base: null, timestamp: timestamps() };
  return logFormat === 'pretty' || (logFormat === 'auto' && stderr.isTTY)
    ? pino(
        { ...options, hooks: { streamWrite: visible } },
        await prettyStream(destination, stderr.isTTY),
      )
    : pino({ ...options, hooks: { streamWrite: escaped } }, destination);
}

/** Returns a function that makes the member `time` of a line, as pino needs it. It formats each second once. */
function timestamps(): () => string {
  let second = '';
  let began = 0;
  return () => {
    const now = Date.now();
    if (now < began || now >= began + 1000) {
      began = now - (now % 1000);
      second = new Date(began).toISOString().slice(0, -4);
    }
    return `,"time":"${second}${String(now - began).padStart(3, '0')}Z"`;
  };
}

/**
 * Writes lines to a file descriptor, several together, and the rest when the process ends. Never waits for a reader
 * before that: Node.js makes a pipe on stderr non-blocking, and text that does not fit is kept, then written with later
 * lines or by the timer. Drops lines, and says how many, when `maxLength` bytes wait. Errors end nothing.
 */
export async function logDestination(
  fd: number,
  maxLength = 8 * 2 ** 20,
): Promise<DestinationStream> {
  const { pino } = await import('pino');
  let [dropped, end] = [0, -Infinity];
  const destination = pino.destination({
    fd,
    sync: true, // asynchronous writes of pino can neither be awaited at the exit nor stop at a closed pipe there
    minLength: 4096,
    maxLength,
    periodicFlush: 100,
    retryEAGAIN: () => performance.now() < end,
  });
  destination.on('error', () => {});
  destination.on('drop', () => (dropped += 1));
  destination.on('drain', () => {
    if (dropped === 0) return;
    const warning = { level: 40, time: new Date(), dropped, msg: 'lines of the log were dropped' };
    dropped = 0;
    destination.write(`${JSON.stringify(warning)}\n`);
  });
  process.on('exit', () => {
    end = performance.now() + 1000; // a reader may be slow
    destination.end();
  });
  return destination;
}

/** Formats lines for people. A response is one short line. */
async function prettyStream(to: DestinationStream, colorize: boolean): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat:
      '{msg}{if method} {method} {path} {status} {milliseconds} ms {keyId} {code}{end}',
    ignore:
      'url,docs,metrics,store,requestId,method,path,operation,clientAddress,userAgent,keyId,status,code,bytes,milliseconds',
    // pino-pretty would close for good at the first error of the destination.
    destination: new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => (to.write(text), done()),
    }),
  });
}

/** A line of JSON with escapes for what it may hold as it is, but a terminal would obey, or show as an end of line. */
const escaped = (line: string): string =>
  line.replaceAll(
    /[\x7f-\x9f\u2028\u2029]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The same for people: once it is parsed, escapes still show as such. */
const visible = (line: string): string =>
  escaped(line).replaceAll(/\\(u....|[bfr])|\\./g, (text, control?: string) =>
    control === undefined ? text : `\\\\${control}`,
  );

function levelOf({ error, isProbe, keyFault }: Parameters<HttpLog['responded']>[0]) {
  if (error !== undefined)
    return isUnavailable(error) && error.cause === undefined ? 'warn' : 'error';
  if (keyFault === 'expired' || keyFault === 'revoked') return 'warn';
  return isProbe ? 'debug' : 'info';
}

/**
 * Logs one line for each response: health checks at debug; requests refused under load or late, and those with a key that
 * is no longer valid, at warn; faults at error. Besides, one warning a day (in UTC) for each key that calls a deprecated
 * operation.
 */
export function httpLogTo(logger: Logger, clock: Clock = systemClock): HttpLog {
  const warned = new Set<string>(); // by operation and key
  let today = 0;
  const warnOfDeprecation = (operation: string | undefined, keyId: string, sunset: Date): void => {
    const day = Math.floor(clock.now().getTime() / DAY);
    if (day !== today) warned.clear();
    today = day;
    const call = `${operation} ${keyId}`;
    if (warned.has(call)) return;
    if (warned.size === 10_000) warned.clear(); // bounds the memory
    warned.add(call);
    const until = sunset.toISOString().slice(0, 10);
    logger.warn({ operationId: operation, keyId, sunset: until }, 'deprecated operation called');
  };
  const responded: HttpLog['responded'] = (request) => {
    const { error, sunset, operation, keyId } = request;
    if (sunset && keyId !== undefined) warnOfDeprecation(operation, keyId, sunset);
    const level = levelOf(request);
    if (!logger.isLevelEnabled(level)) return;
    // pino leaves out what is undefined. To copy the other members alone takes longer.
    const line = {
      ...request,
      isProbe: undefined,
      sunset: undefined,
      error: undefined,
      milliseconds: Math.round(request.milliseconds * 1000) / 1000,
    };
    // No stack: under overload, or while the store is away, such lines are most of the log.
    const reason = isUnavailable(error) ? { reason: reasonOf(error) } : { err: error };
    logger[level](error === undefined ? line : { ...line, ...reason }, 'responded');
  };
  return { responded };
}

/** In milliseconds. */
const DAY = 24 * 60 * 60 * 1000;

/** Whether a driven side, such as the store, cannot do its work now. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const text = (isError(error) ? error.message : String(error)).replaceAll('\n', ' ');
  const cause = isError(error) && error.cause !== undefined ? reasonOf(error.cause) : '';
  return text.includes(cause) ? text : `${text} ${cause}`;
}
