import { setTimeout as delay } from 'node:timers/promises';
import { pino, type DestinationStream, type Logger } from 'pino';
import type { Settings } from './settings.js';

/** Makes a log of JSON lines. They go to `stream`, the standard error output of the process or another one. */
export const createLogger = (
  { logLevel: level }: Pick<Settings, 'logLevel'>,
  stream: DestinationStream,
): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: escaped },
    },
    stream,
  );

/** Escapes characters that JSON allows in a text, but that control a terminal or break its line. */
const escaped = (line: string): string =>
  line.replaceAll(
    /[\x7f-\x9f\u2028\u2029]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** How long to wait for the reader of the log, in milliseconds: enough to read a megabyte. */
const EXIT_TIMEOUT = 3000;

/**
 * Where `serve` logs: file descriptor 2. Nothing is lost when the process ends or throws. If nobody reads the log, it
 * buffers one megabyte, drops further lines, and delays the exit by a few seconds.
 */
export function logDestination(): DestinationStream {
  let deadline = Infinity;
  process.once('exit', () => {
    deadline = performance.now() + EXIT_TIMEOUT;
  });
  const stream = pino.destination({
    fd: 2,
    sync: false,
    minLength: 4096,
    periodicFlush: 1000,
    maxLength: 2 ** 20,
    retryEAGAIN: () => performance.now() < deadline,
  });
  // A reader that has closed the pipe must not end the service.
  return stream.on('error', () => {});
}

/** Resolves once the log is written, or after three seconds. A write in progress would be lost at the exit. */
export const flushed = (logger: Logger): Promise<unknown> =>
  Promise.race([
    new Promise((resolve) => logger.flush(resolve)),
    delay(EXIT_TIMEOUT, undefined, { ref: false }),
  ]);
