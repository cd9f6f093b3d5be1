import type { Command } from 'commander';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Pet } from '../domain/pet.js';
import { UsageError, addCommand, interruptible, type Commands } from './command-line.js';
import { COLUMNS, FORMAT_HELP, csvField, formatOf, type FileFormat } from './pet-file.js';
import { showing } from './progress.js';
import { READING, withStore } from './with-store.js';

interface Options {
  readonly format?: string;
  readonly json?: true;
}

/** Adds `export`. */
export function addExportCommand(program: Command, commands: Commands): void {
  const summary =
    'Writes every animal of the store of STORE_URL to a new CSV or NDJSON file, in ascending order of id.';
  addCommand(program, 'export', summary, 'animal-store export animals.csv')
    .argument('<FILE>', 'file to create; - for standard output')
    .option('--format <format>', FORMAT_HELP)
    .option('--json', 'print JSON, for machines')
    .action((file: string, options: Options) =>
      interruptible(commands.io, (signal) => exportFile(commands, file, options, signal)),
    );
}

async function exportFile(
  commands: Commands,
  file: string,
  { format: given, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const format = formatOf(file, given);
  if (file !== '-' && existsSync(file))
    throw new UsageError('FILE exists: remove it, or choose another name.');
  const inMemory = 'A store in memory belongs to its service.';
  await withStore(commands, inMemory, READING, async (store, container) => {
    const { TOKENS } = await import('./container.js');
    const pets = await container.getAsync(TOKENS.petRepository);
    const total = (await store.transfer?.survey({ signal }))?.pets;
    let exported = 0;
    async function* texts(): AsyncGenerator<string> {
      if (format.kind === 'csv') yield `${COLUMNS.join(',')}\n`;
      for (let after: bigint | undefined; ;) {
        const page = await pets.list({ after, limit: PAGE }, { signal });
        if (page.length === 0) return;
        yield page.map(LINES[format.kind]).join('');
        after = page.at(-1)?.id;
        exported += page.length;
      }
    }
    const part = () => (total === undefined ? undefined : Math.min(1, exported / Math.max(1, total)));
    await showing(io, { done: () => exported, part }, () => write(file, format, texts(), io.stdout, signal));
    const report = { from: store.location, to: file, exported };
    const sentences = `Exported animals: ${exported}\n  from ${report.from}\n  to   ${file}\n`;
    // Standard output may hold the animals.
    (file === '-' ? io.stderr : io.stdout).write(json ? `${JSON.stringify(report)}\n` : sentences);
  });
}

/** How many animals are read at once. */
const PAGE = 1000;

/** An animal as a line of each kind of file, exact to the digit. */
const LINES: Readonly<Record<FileFormat['kind'], (pet: Pet) => string>> = {
  csv: ({ id, name, categoryId, status }) => `${id},${csvField(name)},${categoryId},${status}\n`,
  ndjson: ({ id, name, categoryId, status }) =>
    `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}\n`,
};

/** The file has its name only when it is complete and on the disk. */
async function write(
  file: string,
  { gzip }: FileFormat,
  texts: AsyncIterable<string>,
  stdout: NodeJS.WriteStream,
  signal: AbortSignal,
): Promise<void> {
  const part = `${file}.part`;
  const target = file === '-' ? stdout : createWriteStream(part, { flush: true });
  try {
    await pipeline([texts, ...(gzip ? [createGzip()] : []), target] as never, { signal, end: file !== '-' });
    if (file !== '-') await rename(part, file);
  } catch (error) {
    if (file !== '-') await rm(part, { force: true });
    throw signal.aborted ? signal.reason : error;
  }
}
