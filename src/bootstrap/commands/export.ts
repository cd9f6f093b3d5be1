import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Pet } from '../../domain/pet.js';
import { stringify } from '../../exact-json.js';
import {
  JSON_OPTION,
  UsageError,
  addCommand,
  interruptible,
  print,
  resultText,
  type Commands,
} from './command-line.js';
import { COLUMNS, FORMAT_OPTION, csvLine, formatOf, type Format } from './pet-file.js';
import { showing } from './progress.js';
import { READING, withStore } from './with-store.js';

interface Options {
  readonly format?: Format;
  readonly json?: true;
}

/** Adds `export`. */
export function addExportCommand(program: Command, commands: Commands): void {
  const summary =
    'Writes every animal of the store of STORE_URL to a new CSV or NDJSON file, in ascending order of id.';
  addCommand(program, 'export', summary, 'animal-store export animals.csv')
    .argument('<FILE>', 'file to create; - for standard output')
    .option(...FORMAT_OPTION)
    .option(...JSON_OPTION)
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
  const { isCsv, gzip } = formatOf(file, given);
  const lineOf = (pet: Pet): string =>
    isCsv ? csvLine(COLUMNS.map((field) => pet[field])) : `${stringify(pet)}\n`;
  if (file !== '-' && existsSync(file))
    throw new UsageError(`${file} exists: remove it, or choose another name.`);
  const inMemory = 'A store in memory belongs to its service.';
  await withStore(commands, inMemory, { ...READING, snapshot: true }, async (store, container) => {
    const { TOKENS } = await import('../service/container.js');
    const pets = await container.getAsync(TOKENS.petRepository);
    const total = (await store.transfer?.survey({ signal }))?.pets;
    let exported = 0;
    async function* texts(): AsyncGenerator<string> {
      if (isCsv) yield csvLine(COLUMNS);
      for (let after: bigint | undefined; ;) {
        const page = await pets.list({ after, limit: PAGE }, { signal });
        if (page.length === 0) return;
        yield page.map(lineOf).join('');
        after = page.at(-1)?.id;
        exported += page.length;
      }
    }
    const part = () => (total === undefined ? undefined : Math.min(1, exported / Math.max(1, total)));
    await showing(io, { done: () => exported, part }, () => write(file, gzip, texts(), io.stdout, signal));
    const report = { from: store.location, to: file, exported };
    const sentences = `Exported animals: ${exported}\n  from ${report.from}\n  to   ${file}\n`;
    // Standard output may hold the animals.
    await print(file === '-' ? io.stderr : io.stdout, resultText(json, report, sentences));
  });
}

/** How many animals are read at once. */
const PAGE = 1000;

/** The file has its name only when it is complete and on the disk. Until then it has a name that nobody can foresee. */
async function write(
  file: string,
  gzip: boolean,
  texts: AsyncIterable<string>,
  stdout: NodeJS.WriteStream,
  signal: AbortSignal,
): Promise<void> {
  const isFile = file !== '-';
  const part = `${file}.${randomUUID()}.part`;
  try {
    // Opened first: a file that a stream opens may appear after its removal.
    const target = isFile ? (await open(part, 'wx', 0o600)).createWriteStream({ flush: true }) : stdout;
    await pipeline([texts, ...(gzip ? [createGzip()] : []), target] as never, { signal, end: isFile });
    if (isFile) await rename(part, file);
  } catch (cause) {
    if (isFile) await rm(part, { force: true });
    signal.throwIfAborted();
    const { syscall }: NodeJS.ErrnoException = Object(cause);
    throw isFile && syscall !== undefined ? new Error(`${file} cannot be written.`, { cause }) : cause;
  }
}
