import { Writable } from 'node:stream';
import type { DestinationStream, Logger } from 'pino';
import type { HttpLog, RespondedRequest } from '../../adapters/http/http-log.js';
import { systemClock, type Clock } from '../../application/ports/clock.js';
import { isUnavailable, reasonOf } from './errors.js';
import type { Settings } from './settings.js';

/** Makes the log of `serve`, as `LOG_LEVEL` and `LOG_FORMAT` say. Lines go to `stderr`, the process's or another stream. */
export async function createLogger(
  { logLevel, logFormat }: Pick<Settings, 'logLevel' | 'logFormat'>,
  stderr: NodeJS.WriteStream,
): Promise<Logger> {
  const { pino } = await import('pino');
  const isFileOrPipe = 'fd' in stderr && !stderr.isTTY;
  const destination = isFileOrPipe ? await logDestination(2) : stderr;
  const options = { level: logLevel, base: null, timestamp: timestamps() };
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && stderr.isTTY);
  if (!isPretty) return pino({ ...options, hooks: { streamWrite: escaped } }, destination);
  const stream = await prettyStream(destination, stderr.isTTY);
  return pino({ ...options, hooks: { streamWrite: visible } }, stream);
}

/** Returns a function that makes the member `time` of a line, as pino needs it. Formats each second once: it is cheaper. */
function timestamps(): () => string {
  let second = '';
  let began = 0;
  return () => {
    const now = Date.now();
    const isOfAnotherSecond = now < began || now >= began + 1000;
    if (isOfAnotherSecond) {
      began = now - (now % 1000);
      second = new Date(began).toISOString().slice(0, -'000Z'.length);
    }
    const milliseconds = String(now - began).padStart(3, '0');
    return `,"time":"${second}${milliseconds}Z"`;
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
  let droppedLines = 0;
  /** Until when to retry while the reader is slow: only at the exit of the process. */
  let retryUntil = -Infinity;
  const destination = pino.destination({
    fd,
    // Asynchronous writes of pino can neither be awaited at the exit nor stop at a closed pipe there.
    sync: true,
    minLength: 4096,
    maxLength,
    periodicFlush: 100,
    retryEAGAIN: () => performance.now() < retryUntil,
  });
  destination.on('error', () => {});
  destination.on('drop', () => {
    droppedLines += 1;
  });
  destination.on('drain', () => {
    if (droppedLines === 0) return;
    const dropped = droppedLines;
    droppedLines = 0;
    const warning = { level: 40, time: new Date(), dropped, msg: 'lines of the log were dropped' };
    destination.write(`${JSON.stringify(warning)}\n`);
  });
  process.on('exit', () => {
    retryUntil = performance.now() + 1000;
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
      write(text: string, _encoding, done) {
        to.write(text);
        done();
      },
    }),
  });
}

/** Escapes characters that JSON allows in a text, but that a terminal obeys or shows as an end of line. */
function escaped(line: string): string {
  return line.replaceAll(
    /[\x7f-\x9f\u2028\u2029]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Escapes characters for pino-pretty, which parses the line: only an escape with a second backslash stays one. An end of
 * line or a tab becomes itself, as in stacks.
 */
function visible(line: string): string {
  return escaped(line).replaceAll(/\\./g, (escape) =>
    CONTROL_ESCAPES.has(escape) ? `\\${escape}` : escape,
  );
}

/** How the escapes of JSON for control characters begin, except those for an end of line and a tab. */
const CONTROL_ESCAPES: ReadonlySet<string> = new Set(['\\u', '\\b', '\\f', '\\r']);

function levelOf({
  error,
  isProbe,
  keyFault,
}: RespondedRequest): 'debug' | 'info' | 'warn' | 'error' {
  if (error !== undefined) {
    const isRefusal = isUnavailable(error) && error.cause === undefined;
    return isRefusal ? 'warn' : 'error';
  }
  if (keyFault === 'expired' || keyFault === 'revoked') return 'warn';
  return isProbe ? 'debug' : 'info';
}

/**
 * Logs one line for each response: health checks at debug; requests refused under load or late, and those with a key that
 * is no longer valid, at warn; faults at error. Besides, one warning a day (in UTC) for each key that calls a deprecated
 * operation.
 */
export function httpLogTo(logger: Logger, clock: Clock = systemClock): HttpLog {
  /** Calls of deprecated operations that were warned of today. */
  const warned = new Set<string>();
  let today = 0;
  const warnOfDeprecation = (
    operationId: string | undefined,
    keyId: string,
    sunset: Date,
  ): void => {
    const day = Math.floor(clock.now().getTime() / DAY);
    if (day !== today) warned.clear();
    today = day;
    const call = `${operationId} ${keyId}`;
    if (warned.has(call)) return;
    if (warned.size === 10_000) warned.clear(); // bounds the memory
    warned.add(call);
    const until = sunset.toISOString().slice(0, 10);
    logger.warn({ operationId, keyId, sunset: until }, 'deprecated operation called');
  };
  return {
    responded(request) {
      const { error, sunset, operation, keyId } = request;
      if (sunset && keyId !== undefined) warnOfDeprecation(operation, keyId, sunset);
      const level = levelOf(request);
      if (!logger.isLevelEnabled(level)) return;
      // pino omits members that are undefined. It is faster than copying only the others.
      const line = {
        ...request,
        isProbe: undefined,
        sunset: undefined,
        error: undefined,
        milliseconds: Math.round(request.milliseconds * 1000) / 1000,
      };
      if (error === undefined) logger[level](line, 'responded');
      // No stack: under overload, or while the store is unreachable, such lines are most of the log.
      else if (isUnavailable(error))
        logger[level]({ ...line, reason: reasonOf(error) }, 'responded');
      else logger[level]({ ...line, err: error }, 'responded');
    },
  };
}

/** In milliseconds. */
const DAY = 24 * 60 * 60 * 1000;
