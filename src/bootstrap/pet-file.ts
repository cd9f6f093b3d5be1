import { ReadStream, createReadStream } from 'node:fs';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from './command-line.js';

/** How a file of animals is written. */
export interface FileFormat {
  readonly kind: 'csv' | 'ndjson';
  readonly gzip: boolean;
}

/** The help of `--format`. */
export const FORMAT_HELP = 'csv, ndjson, csv.gz or ndjson.gz (default: the ending of FILE)';

/** @throws {UsageError} the ending is none that we know. */
export function formatOf(file: string, format = file): FileFormat {
  const [, kind = '', gzip] = /(?:^|\.)(csv|ndjson|jsonl)(\.gz)?$/i.exec(format) ?? [];
  if (kind === '')
    throw new UsageError(`FILE must end in .csv, .ndjson, .csv.gz or .ndjson.gz, or use --format.`);
  return { kind: kind.toLowerCase() === 'csv' ? 'csv' : 'ndjson', gzip: gzip !== undefined };
}

/** The columns of a file of animals: the fields of an animal. */
export const COLUMNS = ['id', 'name', 'categoryId', 'status'] as const;

export type Field = (typeof COLUMNS)[number];

/** A CSV field (RFC 4180): in quotes only where it has to be. */
export const csvField = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** How much is read at once, in bytes. */
const CHUNK = 64 * 1024;

/** A file or standard input, as its bytes are read. */
export interface Input {
  /** Its content, uncompressed. Rejects with what goes wrong, or with the signal's reason. */
  readonly content: AsyncIterable<Buffer>;
  /** How many bytes of the file have been read. */
  readonly bytesRead: () => number;
}

/** Reads a file, or `stdin` for `-`. */
export function openInput(file: string, stdin: Readable, gzip: boolean, signal: AbortSignal): Input {
  const source = file === '-' ? stdin : createReadStream(file, { highWaterMark: CHUNK });
  addAbortSignal(signal, source);
  // A failing source destroys what it flows into, so all errors reach whoever reads the content.
  const stream = gzip ? pipeline(source, createGunzip({ chunkSize: CHUNK }), () => {}) : source;
  async function* content(): AsyncGenerator<Buffer> {
    try {
      yield* stream;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error('FILE cannot be read.', { cause });
    }
  }
  return {
    content: content(),
    bytesRead: () => (source instanceof ReadStream ? source.bytesRead : 0),
  };
}
