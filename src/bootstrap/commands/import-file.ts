import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { addPets, keepPets, type ImportedPet, type PetImporter } from '../../application/import-pets.js';
import { ADDS_AT_ONCE } from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError, InvalidPetError, isAnimalStoreError } from '../../domain/errors.js';
import { isInt64 } from '../../domain/int64.js';
import * as domain from '../../domain/pet.js';
import { UsageError, note, print, type Commands } from './command-line.js';
import { COLUMNS, csvLine, formatOf, nameOf, openInput, type Format } from './pet-file.js';
import { readRows, type Row } from './pet-rows.js';
import { showing } from './progress.js';
import { withStore } from './with-store.js';

/** The options of `import`. */
export interface ImportOptions {
  readonly format?: Format;
  readonly delimiter?: string;
  readonly map?: ReadonlyMap<keyof domain.Pet, string>;
  readonly status?: domain.PetStatus;
  readonly once?: true;
  readonly keepIds?: true;
  readonly dryRun?: true;
  readonly maxErrors?: number;
  readonly json?: true;
}

/** What an import has done. */
interface Report {
  readonly from: string;
  /** The store; `undefined` for a dry run. */
  to?: string;
  /** Animals of a dry run are counted too. */
  added: number;
  /** How many of the added got the default status. */
  withoutStatus: number;
  /** Animals that an earlier import of the same lines had added. */
  present: number;
  rejected: number;
  /** Where the rejected lines are, if there are any. */
  rejects?: string;
  /** Everything up to this line is done. */
  line: number;
}

/** Writes a row to the CSV file of rejected lines, byte for byte. The first row replaces the file. */
type Reject = (row: Row, reason: string) => void;

/** Stores nothing. */
const DRY_RUN: PetImporter = { batchSize: 1000, store: async (batch) => batch.map(() => 'added') };

/** Imports a file. With rejected lines the exit code is 1. */
export async function importFile(
  commands: Commands,
  file: string,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const { once, keepIds, dryRun, json, map, delimiter } = options;
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
  const reject: Reject = ({ line, bytes }, reason) => {
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
  const read = (importer: PetImporter): Promise<void> => {
    const { content, bytesRead } = open();
    const fields = COLUMNS.filter((field) => keepIds || field !== 'id');
    const columns = new Map(fields.map((field) => [field, map?.get(field) ?? field]));
    const rows = readRows(content, { name, isCsv, columns, delimiter });
    const part = () => (stats?.isFile() ? bytesRead() / Math.max(1, stats.size) : undefined);
    return showing(io, { done, part }, () => importRows(rows, importer, options, reject, report));
  };
  try {
    if (dryRun) await read(DRY_RUN);
    else {
      const inMemory = 'A store in memory would be gone after the import.';
      await withStore(commands, inMemory, {}, async ({ transfer, location }, container) => {
        const { TOKENS } = await import('../service/container.js');
        const pets = await container.getAsync(TOKENS.petRepository);
        report.to = location;
        if (!keepIds) {
          const source = once && `import:${await contentHash(open().content)}`;
          return read(addPets(pets, await container.getAsync(TOKENS.clock), source));
        }
        if (transfer === undefined) throw new Error('This store does not support --keep-ids.');
        const { pets: found } = await transfer.survey({ signal });
        if (found > 0)
          throw new Error('The store is not empty: --keep-ids needs a new one. Nothing was written.');
        return read(keepPets(transfer));
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
  print(io.stdout, json, report, sentences(report, options));
}

/** 128 bits of a SHA-256 of the uncompressed content, in hexadecimal. */
async function contentHash(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex').slice(0, 32);
}

/** Stores the valid rows and rejects the others. */
async function importRows(
  rows: AsyncIterable<readonly Row[]>,
  { batchSize, store }: PetImporter,
  options: ImportOptions,
  reject: Reject,
  report: Report,
): Promise<void> {
  const { maxErrors = Infinity } = options;
  const parsed = rowParser(options, report);
  let batch: Array<readonly [Row, ImportedPet]> = [];
  const storeUpTo = async (line: number): Promise<void> => {
    const outcomes = await store(batch.map(([, entry]) => entry));
    const failures: unknown[] = [];
    for (const [index, [row]] of batch.entries()) {
      const outcome = outcomes[index] ?? 'added';
      if (typeof outcome === 'string') report[outcome] += 1;
      else if (outcome.refused instanceof IdempotencyKeyReusedError)
        reject(row, 'The line was imported before, as another animal.');
      else failures.push(outcome.refused);
    }
    if (failures.length > 0) throw failures[0];
    report.line = line;
    batch = [];
    if (report.rejected <= maxErrors) return;
    const count = `Rejected lines: ${report.rejected}, more than --max-errors.`;
    throw new Error(`${count} They are in ${report.rejects}.`);
  };
  let line = 0;
  for await (const chunk of rows)
    for (const row of chunk) {
      const entry = parsed(row);
      if (typeof entry === 'string') reject(row, entry);
      else batch.push([row, entry]);
      line = row.line;
      if (batch.length === batchSize || report.rejected > maxErrors) await storeUpTo(line);
    }
  await storeUpTo(line);
}

/** Returns a function that makes an animal of a row, or says why it is none. */
function rowParser(
  { keepIds, status: defaultStatus = domain.DEFAULT_STATUS }: ImportOptions,
  report: Report,
) {
  let lastId = 0n;
  return ({ line, fields }: Row): ImportedPet | string => {
    if (typeof fields === 'string') return fields;
    const { id, status } = fields;
    try {
      const pet = domain.unsavedPet({ ...fields, status: status ?? defaultStatus } as domain.NewPet);
      if (keepIds && (!isInt64(id) || id <= lastId || id > domain.MAX_GIVEN_ID))
        return `The id must be an integer from ${lastId + 1n}, after the one before, to ${domain.MAX_GIVEN_ID}.`;
      if (keepIds) lastId = id as bigint;
      report.withoutStatus += status === undefined || status === null ? 1 : 0;
      return { key: String(line), pet, id: lastId };
    } catch (error) {
      if (error instanceof InvalidPetError) return error.message;
      throw error;
    }
  };
}

function sentences(report: Report, { status = domain.DEFAULT_STATUS }: ImportOptions): string {
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
function stopped({ added, line }: Report, { once, keepIds }: ImportOptions, error: unknown): string {
  const lines = [`Stopped after line ${line}. Animals added: ${added}.`];
  if (keepIds) lines.push('Start again with a new store.');
  else if (isAnimalStoreError(error)) lines.push(`Up to ${ADDS_AT_ONCE} more may be stored.`);
  if (once) lines.push('The same command goes on from there.');
  return lines.join(' ');
}
