import type { Command } from 'commander';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, rmSync, statSync } from 'node:fs';
import * as importing from '../../application/import-pets.js';
import { ADDS_AT_ONCE } from '../../application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../domain/errors.js';
import type * as domain from '../../domain/pet.js';
import { DEFAULT_STATUS, PET_STATUSES, type PetStatus } from '../../domain/pet-status.js';
import { integer, oneOf, refuse } from '../service/setting-values.js';
import {
  JSON_OPTION,
  UsageError,
  addCommand,
  interruptible,
  note,
  print,
  resultText,
  type Commands,
} from './command-line.js';
import { COLUMNS, FORMAT_OPTION, csvLine, formatOf, nameOf, openInput, type Format } from './pet-file.js';
import type { Row } from './pet-rows.js';
import { showing } from './progress.js';
import { withStore } from './with-store.js';

interface Options {
  readonly format?: Format;
  readonly delimiter?: string;
  readonly map?: ReadonlyMap<keyof domain.Pet, string>;
  readonly status?: PetStatus;
  readonly once?: true;
  readonly keepIds?: true;
  readonly dryRun?: true;
  readonly maxErrors?: number;
  readonly json?: true;
}

/** Adds `import`. */
export function addImportCommand(program: Command, commands: Commands): void {
  const summary =
    'Adds the animals of a CSV or NDJSON file to the store of STORE_URL. Lines that are not valid go to FILE.rejects, with their numbers and the reasons.';
  addCommand(program, 'import', summary, 'animal-store import animals.csv --once')
    .argument('<FILE>', 'file to read; - for standard input, which rejects to stdin.rejects')
    .option(...FORMAT_OPTION)
    .option(
      '--delimiter <delimiter>',
      'what separates columns: "," ";" or tab (default: as in the first line)',
      (text) => oneOf(',', ';', 'tab', '\t')(text).replace('tab', '\t'),
    )
    .option('--map <columns>', 'columns of other names, such as name=Animal,categoryId=Kind', columnNames)
    .option(
      '--status <status>',
      `status where there is none: ${PET_STATUSES.join(', ')} (default: ${DEFAULT_STATUS})`,
      oneOf(...PET_STATUSES),
    )
    .option('--once', 'add each line of the same file at most once, however often it is imported')
    .option('--keep-ids', 'keep the ids of the file; the store must be empty, and nothing else may use it')
    .option('--dry-run', 'check every line, store nothing')
    .option('--max-errors <number>', 'stop if more lines than this are not valid', integer(0, 999_999_999))
    .option(...JSON_OPTION)
    .action((file: string, options: Options) =>
      interruptible(commands.io, (signal) => importFile(commands, file, options, signal)),
    );
}

/** The names of columns by field: `name=Animal,categoryId=Kind`. */
function columnNames(text: string): Map<keyof domain.Pet, string> {
  const names = new Map<keyof domain.Pet, string>();
  for (const part of text.split(',')) {
    const [, given, name = ''] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    const field = COLUMNS.find((each) => each === given);
    if (field === undefined || names.has(field))
      refuse(`must be columns by field (${COLUMNS.join(', ')}), such as name=Animal,categoryId=Kind`);
    names.set(field, name);
  }
  return names;
}

/** What an import has done. Animals of a dry run are counted too. */
interface Report extends importing.ImportReport {
  readonly from: string;
  /** The store; `undefined` for a dry run. */
  to?: string;
  /** Where the rejected lines are, if there are any. */
  rejects?: string;
}

/** Imports a file. With rejected lines the exit code is 1. */
async function importFile(
  commands: Commands,
  file: string,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const { once, keepIds, status, dryRun, json, map, delimiter, maxErrors = Infinity } = options;
  const { isCsv, gzip } = formatOf(file, options.format);
  const name = nameOf(file);
  const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file !== '-' && stats === undefined) throw new UsageError(`${file} does not exist.`);
  if (once && keepIds)
    throw new UsageError('--once is of no use with --keep-ids, which needs an empty store.');
  if (once && !stats?.isFile()) throw new UsageError(`--once reads a file twice, but ${name} is not a file.`);
  const report: Report = { from: file, added: 0, withoutStatus: 0, present: 0, rejected: 0, line: 0 };
  const rejects = `${file === '-' ? 'stdin' : file}.rejects`;
  // What came through a pipe may be nowhere else.
  const removeRejects = () => (file === '-' ? undefined : rmSync(rejects, { force: true }));
  if (file === '-' && existsSync(rejects)) throw new UsageError(`${rejects} exists: move it away first.`);
  /** Writes a row to the CSV file of rejected lines, byte for byte. The first row replaces the file. */
  const reject = ({ line, bytes }: Row, reason: string): void => {
    const isFirst = report.rejects === undefined;
    try {
      if (isFirst) removeRejects();
      const text = (isFirst ? 'line,reason,text\n' : '') + csvLine([line, reason, bytes]);
      appendFileSync(rejects, text, { encoding: 'latin1', mode: 0o600, flag: isFirst ? 'ax' : 'a' });
    } catch (cause) {
      throw new Error(`${rejects} cannot be written.`, { cause });
    }
    report.rejects = rejects;
    report.rejected += 1;
  };
  const open = () => openInput(file, gzip, io.stdin, signal);

  const done = () => report.added + report.present + report.rejected;
  const read = async (importer: importing.PetImporter): Promise<void> => {
    const { content, bytesRead } = open();
    const fields = COLUMNS.filter((field) => keepIds || field !== 'id');
    const columns = new Map(fields.map((field) => [field, map?.get(field) ?? field]));
    const { readRows } = await import('./pet-rows.js'); // loads the parser
    const rows = readRows(content, { name, isCsv, columns, delimiter });
    const part = () => (stats?.isFile() ? bytesRead() / Math.max(1, stats.size) : undefined);
    await showing(io, { done, part }, () =>
      importing.importPets(rows, importer, { status, keepIds, maxErrors, reject, report }),
    );
    if (report.rejected > maxErrors)
      throw new Error(`Rejected lines: ${report.rejected}, more than --max-errors. They are in ${rejects}.`);
  };
  try {
    if (dryRun) await read(importing.DRY_RUN);
    else {
      const inMemory = 'A store in memory would be gone after the import.';
      await withStore(commands, inMemory, {}, async ({ transfer, location }, container) => {
        const { TOKENS } = await import('../service/container.js');
        const pets = await container.getAsync(TOKENS.petRepository);
        report.to = location;
        if (!keepIds) {
          const source = once && `import:${await contentHash(open().content)}`;
          return read(importing.addPets(pets, await container.getAsync(TOKENS.clock), source));
        }
        if (transfer === undefined) throw new Error('This store does not support --keep-ids.');
        const { pets: found } = await transfer.survey({ signal });
        if (found > 0)
          throw new Error('The store is not empty: --keep-ids needs a new one. Nothing was written.');
        return read(importing.keepPets(transfer));
      });
    }
  } catch (error) {
    const mayHaveStored =
      report.line > 0 || report.added > 0 || (report.to !== undefined && isAnimalStoreError(error));
    if (mayHaveStored && !dryRun) note(io, stopped(report, options, error));
    throw error;
  }
  if (report.rejected > 0) commands.exitCode = 1;
  else removeRejects();
  await print(io.stdout, resultText(json, report, sentences(report, options)));
}

/** 128 bits of a SHA-256 of the uncompressed content, in hexadecimal. */
async function contentHash(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex').slice(0, 32);
}

function sentences(report: Report, { status = DEFAULT_STATUS }: Options): string {
  const { from, to, added, withoutStatus, present, rejected, rejects } = report;
  const taken = withoutStatus > 0 ? ` (without a status: ${withoutStatus}, taken as ${status})` : '';
  const dry = to === undefined;
  return [
    dry ? `Valid animals: ${added}${taken}. Nothing was stored.\n` : `Added animals: ${added}${taken}\n`,
    present > 0 && `Added before: ${present}\n`,
    `  from ${from}\n`,
    !dry && `  to   ${to}\n`,
    rejects && `Rejected lines: ${rejected}. They are in ${rejects}, with the reasons.\n`,
  ]
    .filter(Boolean)
    .join('');
}

/** What a command that failed has done, and how to go on. */
function stopped({ added, line }: Report, { once, keepIds }: Options, error: unknown): string {
  const lines = [`Stopped after line ${line}. Animals added: ${added}.`];
  if (keepIds) lines.push('Start again with a new store.');
  else if (isAnimalStoreError(error)) lines.push(`Up to ${ADDS_AT_ONCE} more may be stored.`);
  if (once) lines.push('Run the same command again to continue.');
  return lines.join(' ');
}
