import { isUtf8 } from 'node:buffer';
import type { ImportRow } from '../../application/import-pets.js';
import { UsageError } from './command-line.js';
import { MAX_LENGTH, type PetFile } from './pet-file.js';

/** Where a line ends: after LF, CRLF or CR. */
const LINE_END = /(?<=\n|\r(?!\n))/;

/**
 * Reads the rows of a file, without blank lines and the header.
 * @throws {UsageError} it is not text in UTF-8, it is a CSV file without the columns, or no line of it holds an animal.
 * Only an empty NDJSON file is valid: the export of an empty store.
 */
export async function* readRows(
  content: AsyncIterable<Buffer>,
  file: PetFile,
): AsyncGenerator<readonly ImportRow[]> {
  const lines = readLines(content, file);
  if (file.inCsv) {
    const { csvRows } = await import('./csv-rows.js');
    yield* csvRows(lines, file);
  } else {
    const { ndjsonRows } = await import('./ndjson-rows.js');
    yield* ndjsonRows(lines, file);
  }
}

/** Reads text in UTF-8, without its byte order mark, as lines with their ends. */
async function* readLines(
  content: AsyncIterable<Buffer>,
  { hash, name }: PetFile,
): AsyncGenerator<readonly string[]> {
  let lineCount = 0;
  /** Takes a line with a character for each byte. */
  const decoded = (bytes: string): string => {
    lineCount += 1;
    const line = Buffer.from(bytes, 'latin1');
    if (!isUtf8(line)) throw new UsageError(`${name}: line ${lineCount} is not UTF-8.`);
    const text = line.toString();
    return lineCount === 1 ? text.replace(/^\ufeff/, '') : text;
  };

  /** The start of a line whose end has not been read. */
  let rest = '';
  for await (const chunk of content) {
    hash.update(chunk);
    const lines = (rest + chunk.toString('latin1')).split(LINE_END);
    const tooLong = lines.findIndex(({ length }) => length > MAX_LENGTH);
    if (tooLong >= 0)
      throw new UsageError(`${name}: line ${lineCount + tooLong + 1} is longer than 1 MiB.`);
    // A CR at the end may be half of a CRLF.
    const isLastComplete = lines.at(-1)?.endsWith('\n') ?? false;
    rest = isLastComplete ? '' : (lines.pop() ?? '');
    if (lines.length > 0) yield lines.map(decoded);
  }
  yield rest.split(LINE_END).map(decoded);
}
