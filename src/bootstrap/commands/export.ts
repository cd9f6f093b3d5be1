import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { constants, lstat, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileErrorMessage, nameFinishedFile, syncFolder } from '../../adapters/file-system.js';
import { petPages } from '../../application/pet-pages.js';
import type { Pet } from '../../domain/pet.js';
import { stringifyJson } from '../../exact-json.js';
import { isSystemError } from '../service/errors.js';
import * as cli from './command-line.js';
import { COLUMNS, csvLine, formatOption, isCsv } from './pet-file.js';
import { withProgress, withStore } from './with-store.js';
import { TOKENS } from '../service/wiring.js';

interface Options {
  readonly format?: string;
  readonly json?: true;
}

export function addExportCommand(program: Command, commands: cli.Commands): void {
  const summary =
    'Writes every animal of the store of STORE_URL to a new CSV or NDJSON file, in ascending order of id.';
  cli
    .addCommand(program, 'export', summary, 'animal-store export animals.csv')
    .argument('<FILE>', 'file to create; - for standard output')
    .addOption(formatOption())
    .option(...cli.JSON_OPTION)
    .action((file: string, options: Options) =>
      cli.interruptible(commands.io, (signal) => exportFile(commands, file, options, signal)),
    );
}

async function exportFile(
  commands: cli.Commands,
  file: string,
  { format, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const isOutput = file === '-';
  const inCsv = isCsv(file, format);
  if (!isOutput && (await lstat(file).catch(() => undefined)))
    throw new cli.UsageError(`${file} exists: choose another name, or - for standard output.`);
  await withStore(commands, 'snapshot', async ({ location: from }, container) => {
    const pets = await container.getAsync(TOKENS.petRepository);
    let exported = 0;
    async function* texts(): AsyncGenerator<string> {
      if (inCsv) yield csvLine(COLUMNS);
      for await (const page of petPages(pets, 1000, { signal })) {
        yield page.map(inCsv ? csvLineOf : jsonLineOf).join('');
        exported += page.length;
      }
    }
    const isWritten = await withProgress(
      io,
      () => `${exported} animals`,
      () => (isOutput ? printAll(io, texts()) : writeFile(file, texts(), signal)),
    );
    if (!isWritten) return;
    const lines = [`Exported animals: ${exported}`, `  from ${from}`, `  to   ${file}`];
    const result = cli.resultText(json, { from, to: file, exported }, lines);
    // Standard output holds the animals.
    await cli.print(isOutput ? io.stderr : io.stdout, result);
  });
}

function csvLineOf(pet: Pet): string {
  return csvLine(COLUMNS.map((field) => pet[field]));
}
function jsonLineOf(pet: Pet): string {
  return `${stringifyJson(pet)}\n`;
}

/** Resolves to `false` if the reader of standard output stopped reading before the end. */
async function printAll(
  { stdout }: cli.HostProcess,
  texts: AsyncIterable<string>,
): Promise<boolean> {
  for await (const text of texts) {
    const isRead = await cli.print(stdout, text);
    if (!isRead) return false;
  }
  return true;
}

/** The file has its name only when it is complete and on the disk, and never replaces another. */
async function writeFile(
  file: string,
  texts: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<true> {
  const part = `${file}.${randomUUID()}.part`;
  // O_SYNC: the permission model of Node.js lets no file be synced afterwards. Windows has none.
  const { O_CREAT, O_EXCL, O_SYNC, O_WRONLY } = constants;
  try {
    // Opened first: a file that a stream opens may appear after its removal.
    const handle = await open(part, O_CREAT | O_EXCL | O_SYNC | O_WRONLY, 0o600);
    try {
      await pipeline(texts, handle.createWriteStream(), { signal });
      nameFinishedFile(part, file);
    } finally {
      await rm(part, { force: true });
    }
    await syncFolder(dirname(file));
    return true;
  } catch (cause) {
    signal.throwIfAborted();
    if (!isSystemError(cause)) throw cause;
    throw new Error(`${file} cannot be written. ${fileErrorMessage(cause)}`, { cause });
  }
}
