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
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let nextLine = 1;
  /** The start of a line whose end has not been read. */
  let rest = '';

  const decode = (chunk: Buffer, stream: boolean): string => {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new UsageError(`${name}: line ${nextLine + wrongLine(chunk)} is not UTF-8.`);
    }
  };

  for await (const chunk of content) {
    hash.update(chunk);
    const lines = (rest + decode(chunk, true)).split(LINE_END);
    const tooLong = lines.findIndex(({ length }) => length > MAX_LENGTH);
    if (tooLong >= 0)
      throw new UsageError(`${name}: line ${nextLine + tooLong} is longer than 1 MiB.`);
    // A CR at the end may be half of a CRLF.
    const isLastComplete = lines.at(-1)?.endsWith('\n') ?? false;
    rest = isLastComplete ? '' : (lines.pop() ?? '');
    nextLine += lines.length;
    if (lines.length > 0) yield lines;
  }
  const end = rest + decode(Buffer.alloc(0), false);
  yield end.split(LINE_END);
}

/** The index of the line in a chunk that is not UTF-8. The chunk may begin in the middle of a character. */
function wrongLine(chunk: Buffer): number {
  const text = chunk.toString('latin1').replace(/^[\x80-\xbf]{1,3}/, '');
  const wrong = text.split(LINE_END).findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
  return Math.max(0, wrong);
}
