import { ReadStream, createReadStream } from 'node:fs';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { NEW_PET_FIELDS, type Pet } from '../../domain/pet.js';
import { UsageError } from './command-line.js';
import { oneOf } from '../service/setting-values.js';

/** The endings of files of animals, which are also the values of `--format`. */
const FORMATS = ['csv', 'ndjson', 'jsonl', 'csv.gz', 'ndjson.gz', 'jsonl.gz'] as const;

export type Format = (typeof FORMATS)[number];

/** The option `--format`. */
export const FORMAT_OPTION = [
  '--format <format>',
  `${FORMATS.join(', ')} (default: the ending of FILE)`,
  oneOf(...FORMATS),
] as const;

/** @throws {UsageError} the ending is unknown. */
export function formatOf(file: string, given?: Format): { readonly isCsv: boolean; readonly gzip: boolean } {
  const format = given ?? FORMATS.find((ending) => file.toLowerCase().endsWith(`.${ending}`));
  if (format !== undefined) return { isCsv: format.startsWith('csv'), gzip: format.endsWith('.gz') };
  throw new UsageError(`${nameOf(file)} has no ending of a format: use --format ${FORMATS.join(', ')}.`);
}

/** A file for messages. */
export const nameOf = (file: string): string => (file === '-' ? 'Standard input' : file);

/** A file or standard input, as its bytes are read. */
export interface Input {
  /** Its content, uncompressed. Rejects with what goes wrong, or with the signal's reason. */
  readonly content: AsyncIterable<Buffer>;
  /** Returns how many bytes of the file have been read. */
  readonly bytesRead: () => number;
}

/** Reads a file, or `stdin` for `-`. */
export function openInput(file: string, gzip: boolean, stdin: Readable, signal: AbortSignal): Input {
  const source = file === '-' ? stdin : createReadStream(file);
  addAbortSignal(signal, source);
  // A failing source destroys what it flows into, so all errors reach whoever reads the content.
  const stream = gzip ? pipeline(source, createGunzip({ chunkSize: 65_536 }), () => {}) : source;
  async function* content(): AsyncGenerator<Buffer> {
    try {
      yield* stream;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`${nameOf(file)} cannot be read.`, { cause });
    }
  }
  return { content: content(), bytesRead: () => (source instanceof ReadStream ? source.bytesRead : 0) };
}

/** The fields of an animal in a file, in their order. */
export const COLUMNS: ReadonlyArray<keyof Pet> = ['id', ...NEW_PET_FIELDS];

/** A line of CSV (RFC 4180), with quotes only where needed. */
export const csvLine = (cells: ReadonlyArray<string | number | bigint | undefined>): string =>
  `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\n`;

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
