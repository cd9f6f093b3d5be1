import { setTimeout as delay } from 'node:timers/promises';
import { pino, type DestinationStream, type Logger } from 'pino';
import type { Settings } from './settings.js';

/** Makes a logger that writes JSON lines to `stream`. */
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
 * Where `serve` logs: file descriptor 2. Await `flushed` before the process exits: otherwise a write in progress is
 * lost, and a closed pipe blocks the exit for ever. A reader that stalls costs the lines beyond one megabyte, and a few
 * seconds at the exit.
 */
export function logDestination(): DestinationStream {
  let deadline = Infinity;
  // At the exit pino writes what it holds, and retries while the pipe is full: from then on only for EXIT_TIMEOUT.
  process.prependOnceListener('exit', () => {
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

/** Resolves when all lines are written, after three seconds at the latest. */
export const flushed = (logger: Logger): Promise<unknown> =>
  Promise.race([
    new Promise((resolve) => logger.flush(resolve)),
    delay(EXIT_TIMEOUT, undefined, { ref: false }),
  ]);
