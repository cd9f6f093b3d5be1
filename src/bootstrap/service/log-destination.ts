import { Writable } from 'node:stream';
import type { DestinationStream } from 'pino';

/**
 * Writes lines to a file descriptor, several together, and the rest when the process ends. Never waits for a reader
 * before that: Node.js makes a pipe on stderr non-blocking, and text that does not fit is kept, then written with later
 * lines or by the timer. Drops lines when `maxLength` bytes wait. Errors end nothing.
 */
export async function logDestination(fd: number, maxLength = 8 * 2 ** 20): Promise<DestinationStream> {
  const { pino } = await import('pino');
  let end = -Infinity;
  const destination = pino.destination({
    fd,
    sync: true, // asynchronous writes of pino can neither be awaited at the exit nor stop at a closed pipe there
    minLength: 4096,
    maxLength,
    periodicFlush: 100,
    retryEAGAIN: () => performance.now() < end,
  });
  destination.on('error', () => {});
  process.on('exit', () => {
    end = performance.now() + 1000; // a reader may be slow
    destination.end();
  });
  return destination;
}

/** Formats lines for people. A response is one short line. */
export async function prettyStream(to: DestinationStream, colorize: boolean): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: '{msg}{if method} {method} {path} {status} {milliseconds} ms {keyId} {code}{end}',
    ignore:
      'url,docs,metrics,store,requestId,method,path,operation,clientAddress,userAgent,keyId,status,code,bytes,milliseconds',
    // pino-pretty would close for good at the first error of the destination.
    destination: new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => (to.write(text), done()),
    }),
  });
}

/** A line of JSON whose control characters show as their codes: a terminal would obey them. */
export const visible = (line: string): string =>
  line.replaceAll(/\\(u00..|[bfr])|\\.|[\x7f-\x9f]/g, (text, control?: string) => {
    if (control !== undefined) return `\\\\${control}`;
    return text < '\x7f' ? text : `\\\\x${text.charCodeAt(0).toString(16)}`;
  });
