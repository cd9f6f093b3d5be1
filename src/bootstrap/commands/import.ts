import { Option, type Command } from 'commander';
import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import {
  addPets,
  changePets,
  importPets,
  keepPets,
  type PetUpdater,
  type ImportReport,
  type PetWriter,
} from '../../application/import-pets.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import type { Pet } from '../../domain/pet.js';
import { refuse } from '../service/setting-values.js';
import * as cli from './command-line.js';
import { COLUMNS, formatOption, isCsv, type PetFile } from './pet-file.js';
import { readRows } from './read-rows.js';
import { withProgress, withStore } from './with-store.js';
import { TOKENS } from '../service/wiring.js';

interface Options {
  readonly format?: string;
  readonly map?: ReadonlyMap<keyof Pet, string>;
  readonly once?: true;
  readonly keepIds?: boolean;
  readonly update?: boolean;
  readonly dryRun?: true;
  readonly json?: true;
}

export function addImportCommand(program: Command, commands: cli.Commands): void {
  const summary =
    'Adds the animals of a CSV or NDJSON file to the store of STORE_URL. Checks the whole file first: if a line is not valid, nothing is stored.';
  const once = 'add each line of the same file at most once, however often it is imported';
  cli
    .addCommand(program, 'import', summary, 'animal-store import animals.csv --once')
    .argument('<FILE>', 'file to read; - for standard input, which ends at its first fault')
    .addOption(formatOption())
    .option(
      '--map <columns>',
      'columns of other names, such as name=Animal,categoryId=Kind',
      columnNames,
    )
    .addOption(new Option('--once', once).conflicts('keepIds'))
    .option(
      '--keep-ids',
      'keep the ids of the file; the store must be empty, and nothing else may use it',
    )
    .addOption(
      new Option(
        '--update',
        'change the animals whose ids the file has; add its lines without an id',
      ).conflicts('keepIds'),
    )
    .option('--dry-run', 'check every line, store nothing')
    .option(...cli.JSON_OPTION)
    .action((file: string, options: Options) =>
      cli.interruptible(commands.io, (signal) => importFile(commands, file, options, signal)),
    );
}

/** The names of columns by field: `name=Animal,categoryId=Kind`. */
function columnNames(text: string): ReadonlyMap<keyof Pet, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.split(/=(.+)/, 2) as [field: keyof Pet, name: string]);
  const names = new Map(pairs);
  if (
    names.size === pairs.length &&
    pairs.every(([field, name]) => name && COLUMNS.includes(field))
  )
    return names;
  return refuse(
    `must be columns by field (${COLUMNS.join(', ')}), such as name=Animal,categoryId=Kind`,
  );
}

const SHOWN_FAULTS = 20;
const NEW_IDS =
  'The ids of the file are not kept: an import adds animals and never changes one, also where the store has its id. --update changes animals by their ids; --keep-ids restores an export into an empty store.';

async function importFile(
  commands: cli.Commands,
  file: string,
  { format, map, once, keepIds = false, update = false, dryRun, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const isInput = file === '-';
  const name = isInput ? 'Standard input' : file;
  const inCsv = isCsv(file, format);
  if (isInput && once)
    throw new cli.UsageError('--once reads a file twice, which standard input cannot be.');
  if (!keepIds && !update && map?.has('id'))
    throw new cli.UsageError(
      '--map id needs --keep-ids or --update: without them the store assigns new ids.',
    );
  if (isInput && io.stdin.fd === 0 && fstatSync(0).isDirectory())
    throw new cli.UsageError('Standard input is a folder.');
  // Opened once: both passes read the same file, whatever gets its name meanwhile.
  await using handle = isInput ? undefined : await openRegular(file);
  const fields = COLUMNS.filter((field) => keepIds || update || field !== 'id');
  const columns = new Map(fields.map((field) => [field, map?.get(field) ?? field]));
  const hash = createHash('sha256');
  const unread = new Set<string>();
  const petFile: PetFile = { name, inCsv, columns, hash, unread };
  const nothing = (): ImportReport => ({ added: 0, line: 0, ...(update && { changed: 0 }) });
  let [report, faults] = [nothing(), 0];

  /** Reads the file once. Without a store, only checks it and shows faults. */
  const pass = async (store?: PetWriter, change?: PetUpdater): Promise<void> => {
    report = nothing();
    const stream = addAbortSignal(signal, handle?.createReadStream(FROM_START) ?? io.stdin);
    const rows = readRows(stream, petFile);
    const reject = (line: number, reason: string): void => {
      const fault = `${name}:${line}: ${reason}`;
      if (store) throw new Error(fault);
      faults += 1;
      if (faults <= SHOWN_FAULTS) cli.note(io, fault);
    };
    const progress = (): string => `line ${report.line}`;
    try {
      await withProgress(io, progress, () =>
        importPets(rows, { store, change, keepIds, reject, report }),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw Object(error).syscall ? new Error(`${name} cannot be read.`, { cause: error }) : error;
    }
  };
  const names = (): string => [...unread].join(', ');
  const noteUnread = (): void => {
    if (unread.size > 0) cli.note(io, `Not read: ${names()}.`);
    if (!keepIds && !update && [...unread].some((each) => each.toLowerCase() === 'id'))
      cli.note(io, NEW_IDS);
  };
  const printResult = async (text: string, to?: string): Promise<void> => {
    const result = { from: file, to, ...report, unread: [...unread] };
    const more = unread.size > 0 ? `  not read: ${names()}\n` : '';
    await cli.print(io.stdout, cli.resultText(json, result, text + more));
  };

  /** Reads the whole file first, if that can be repeated. */
  const check = async (change?: PetUpdater): Promise<void> => {
    if (dryRun || !isInput) await pass(undefined, change).finally(noteUnread);
    if (faults > 0) throw new Error(`Lines that are not valid: ${faults}. Nothing was stored.`);
  };
  const changedText = (): string => (update ? `, changes: ${report.changed}` : '');
  const printCheck = () =>
    printResult(
      `Valid animals: ${report.added}${changedText()}. Nothing was stored.\n  from ${file}\n`,
    );

  if (!update) await check();
  if (dryRun && !update) return printCheck();
  const mode = dryRun ? 'read' : 'create';
  await withStore(commands, mode, async ({ transfer, changes, location }, container) => {
    const pets = await container.getAsync(TOKENS.petRepository);
    if (update && !changes)
      throw new cli.UsageError('--update needs a store that changes animals.');
    if (update) await check(changePets(pets));
    if (dryRun) return printCheck();
    const clock = await container.getAsync(TOKENS.clock);
    if (keepIds && (await transfer?.survey({ signal }))?.pets !== 0)
      throw new cli.UsageError(
        '--keep-ids needs an empty store that can keep ids. Nothing was written.',
      );
    if (once && !pets.addOnce)
      throw new cli.UsageError('--once needs a store that keeps claims. Nothing was written.');
    // A copy: the second pass updates the hash, too.
    const source = once && `import:${hash.copy().digest('hex').slice(0, 32)}`;
    const store = keepIds && transfer ? keepPets(transfer) : addPets(pets, { source, clock });
    const storing = pass(store, update ? changePets(pets, changes) : undefined);
    await (isInput ? storing.finally(noteUnread) : storing).catch((error: unknown) => {
      const code = isAnimalStoreError(error) ? error.code : undefined;
      const more =
        code === 'service_unavailable' ? ' Some of the next lines may be stored, too.' : '';
      cli.note(
        io,
        `Stopped after line ${report.line}. Animals added: ${report.added}${changedText()}.${more}`,
      );
      if (code !== 'idempotency_key_reused') throw error;
      throw new Error(`${name} was imported before, with another --map.`);
    });
    await printResult(
      `Added animals: ${report.added}${changedText()}\n  from ${file}\n  to   ${location}\n`,
      location,
    );
  });
}

const FROM_START = { start: 0, autoClose: false };

/** A FIFO is refused before it is opened: without a writer, that would never end. */
async function openRegular(file: string): Promise<FileHandle> {
  try {
    if ((await stat(file)).isFile()) return await open(file);
  } catch (cause) {
    throw new cli.UsageError(`${file} cannot be read.`, { cause });
  }
  throw new cli.UsageError(`${file} is no regular file: use import - < ${file}.`);
}
