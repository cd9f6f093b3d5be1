import type { Command } from 'commander';
import { createHash, type Hash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import * as importing from '../../application/import-pets.js';
import { ADDS_AT_ONCE } from '../../application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import type { Pet } from '../../domain/pet.js';
import { DEFAULT_STATUS } from '../../domain/pet-status.js';
import { refuse } from '../service/setting-values.js';
import {
  JSON_OPTION,
  UsageError,
  addCommand,
  interruptible,
  note,
  print,
  resultText,
} from './command-line.js';
import type { Commands, HostProcess } from './command-line.js';
import { COLUMNS, FORMAT_OPTION, isCsv, type Format } from './pet-file.js';
import { withProgress } from './progress.js';
import { withStore } from './with-store.js';

interface Options {
  readonly format?: Format;
  readonly map?: ReadonlyMap<keyof Pet, string>;
  readonly once?: true;
  readonly keepIds?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/** Adds `import`. */
export function addImportCommand(program: Command, commands: Commands): void {
  const summary =
    'Adds the animals of a CSV or NDJSON file to the store of STORE_URL. Checks the whole file first: if a line is not valid, nothing is stored.';
  addCommand(program, 'import', summary, 'animal-store import animals.csv --once')
    .argument('<FILE>', 'file to read; - for standard input, which ends at its first fault')
    .option(...FORMAT_OPTION)
    .option('--map <columns>', 'columns of other names, such as name=Animal,categoryId=Kind', columnNames)
    .option('--once', 'add each line of the same file at most once, however often it is imported')
    .option('--keep-ids', 'keep the ids of the file; the store must be empty, and nothing else may use it')
    .option('--dry-run', 'check every line, store nothing')
    .option(...JSON_OPTION)
    .action((file: string, options: Options) =>
      interruptible(commands.io, (signal) => importFile(commands, file, options, signal)),
    );
}

/** The names of columns by field: `name=Animal,categoryId=Kind`. */
function columnNames(text: string): Map<keyof Pet, string> {
  const names = new Map<keyof Pet, string>();
  for (const part of text.split(',')) {
    const [, given, name = ''] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    const field = COLUMNS.find((each) => each === given);
    if (field === undefined || names.has(field))
      refuse(`must be columns by field (${COLUMNS.join(', ')}), such as name=Animal,categoryId=Kind`);
    names.set(field, name);
  }
  return names;
}

/** How many faults of a file are shown. */
const SHOWN = 20;

async function importFile(
  commands: Commands,
  file: string,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const { once, keepIds = false, dryRun, json, map, format } = options;
  if (once && keepIds)
    throw new UsageError('--once is of no use with --keep-ids, which needs an empty store.');
  const isFile = file !== '-';
  if (once && !isFile) throw new UsageError('--once reads a file twice, which standard input cannot be.');
  const name = isFile ? file : 'Standard input';
  const fields = COLUMNS.filter((field) => keepIds || field !== 'id');
  const columns = new Map(fields.map((field) => [field, map?.get(field) ?? field]));
  const how = { name, isCsv: isCsv(file, name, format), columns };
  const source = await openSource(file, name, io);

  /** Reads the source once. */
  async function pass(importer: importing.PetImporter, reject: importing.Reject, hash?: Hash) {
    const report: importing.ImportReport = { added: 0, withoutStatus: 0, present: 0, line: 0 };
    const { stream, size } = source.read(signal);
    let bytes = 0;
    async function* content(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          hash?.update(chunk);
          yield chunk;
        }
      } catch (cause) {
        signal.throwIfAborted();
        throw new Error(`${name} cannot be read.`, { cause });
      }
    }
    const { readRows } = await import('./pet-rows.js'); // loads the parser
    const progress = {
      unit: importer === importing.DRY_RUN ? 'animals checked' : 'animals',
      done: () => report.added + report.present,
      part: () => (size === undefined ? undefined : bytes / Math.max(1, size)),
    };
    try {
      const work = () =>
        importing.importPets(readRows(content(), how), importer, { keepIds, reject, report });
      await withProgress(io, progress, work);
      return report;
    } catch (error) {
      const mayHaveStored = report.line > 0 || report.added > 0 || isAnimalStoreError(error);
      if (importer !== importing.DRY_RUN && mayHaveStored) note(io, stopped(report, options, error));
      throw error;
    }
  }

  try {
    const hash = createHash('sha256');
    let checked: importing.ImportReport | undefined;
    if (isFile || dryRun) {
      let faults = 0;
      const reject = (line: number, reason: string): void => {
        faults += 1;
        if (faults <= SHOWN) note(io, `${name}:${line}: ${reason}`);
      };
      checked = await pass(importing.DRY_RUN, reject, hash);
      if (faults > 0) throw new Error(`Lines that are not valid: ${faults}. Nothing was stored.`);
    }
    if (dryRun && checked) {
      const text = `Valid animals: ${checked.added}${withoutStatus(checked)}. Nothing was stored.\n  from ${file}\n`;
      return void (await print(io.stdout, resultText(json, { from: file, ...checked }, text)));
    }
    const stop = (line: number, reason: string): never => {
      throw new Error(`${name}:${line}: ${reason}`);
    };
    const inMemory = 'A store in memory would be gone after the import.';
    await withStore(commands, inMemory, {}, async ({ transfer, location: to }, container) => {
      const { TOKENS } = await import('../service/container.js');
      const add = async () => {
        const content = once && `import:${hash.digest('hex').slice(0, 32)}`;
        const pets = await container.getAsync(TOKENS.petRepository);
        return importing.addPets(pets, await container.getAsync(TOKENS.clock), content);
      };
      const keep = async () => {
        if (transfer === undefined) throw new Error('This store does not support --keep-ids.');
        const { pets: found } = await transfer.survey({ signal });
        if (found > 0)
          throw new Error('The store is not empty: --keep-ids needs a new one. Nothing was written.');
        return importing.keepPets(transfer);
      };
      const report = await pass(keepIds ? await keep() : await add(), stop);
      const before = report.present > 0 ? `Added before: ${report.present}\n` : '';
      const text = `Added animals: ${report.added}${withoutStatus(report)}\n${before}  from ${file}\n  to   ${to}\n`;
      await print(io.stdout, resultText(json, { from: file, to, ...report }, text));
    });
  } finally {
    await source.close();
  }
}

/** What can be read: a file any number of times, standard input once. */
interface Source {
  readonly read: (signal: AbortSignal) => { readonly stream: Readable; readonly size: number | undefined };
  readonly close: () => Promise<void>;
}

/** @throws {UsageError} it is not there, or no file. A FIFO is not opened: without a writer, that would never end. */
async function openSource(file: string, name: string, { stdin }: HostProcess): Promise<Source> {
  if (file === '-') {
    if (stdin.fd === 0 && fstatSync(0).isDirectory()) throw new UsageError(`${name} is a folder.`);
    const read = (signal: AbortSignal) => ({ stream: addAbortSignal(signal, stdin), size: undefined });
    return { read, close: async () => {} };
  }
  let handle: FileHandle;
  let size: number;
  try {
    const stats = await stat(file);
    ({ size } = stats);
    if (!stats.isFile()) throw new UsageError(`${name} is no regular file: use import - < ${file}.`);
    handle = await open(file);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${name} cannot be read. ${(cause as Error).message}.`, { cause });
  }
  const from = { start: 0, autoClose: false };
  return {
    read: (signal) => ({ stream: addAbortSignal(signal, handle.createReadStream(from)), size }),
    close: () => handle.close(),
  };
}

const withoutStatus = ({ withoutStatus: count }: importing.ImportReport): string =>
  count > 0 ? ` (without a status: ${count}, taken as ${DEFAULT_STATUS})` : '';

/** What an import that failed has done, and how to go on. */
function stopped(
  { added, line }: importing.ImportReport,
  { once, keepIds }: Options,
  error: unknown,
): string {
  const lines = [`Stopped after line ${line}. Animals added: ${added}.`];
  if (keepIds) lines.push('Start again with a new store.');
  else if (isAnimalStoreError(error)) lines.push(`Up to ${ADDS_AT_ONCE} more may be stored.`);
  if (once) lines.push('Run the same command again to continue.');
  return lines.join(' ');
}
