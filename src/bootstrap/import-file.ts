import type { Container } from 'inversify';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, statSync, writeSync, type Stats } from 'node:fs';
import { addPets, keepPets, type ImportBatch, type ImportedPet } from '../application/import-pets.js';
import type { Store } from '../application/ports/store.js';
import { InvalidPetError, isAnimalStoreError } from '../domain/errors.js';
import { isInt64 } from '../domain/int64.js';
import { unsavedPet, type NewPet, type PetStatus } from '../domain/pet.js';
import { UsageError, note, type Commands } from './command-line.js';
import { COLUMNS, csvField, formatOf, openInput, type Field, type Input } from './pet-file.js';
import { readRows, type Column, type Row } from './pet-rows.js';
import { showing } from './progress.js';
import { withStore } from './with-store.js';

/** The options of `import`. */
export interface ImportOptions {
  readonly format?: string;
  readonly map?: ReadonlyMap<Field, string>;
  readonly status?: PetStatus;
  readonly once?: true;
  readonly keepIds?: true;
  readonly dryRun?: true;
  readonly maxErrors?: number;
  readonly json?: true;
}

/** How many animals are stored at once. */
const BATCH = 2500;

/** What an import has done. */
interface Report {
  readonly from: string;
  /** The store; `undefined` for a dry run. */
  to?: string;
  /** Animals of a dry run are counted too. */
  added: number;
  /** Animals that an earlier import of the same lines had added. */
  present: number;
  rejected: number;
  /** Where the rejected lines are, if there are any. */
  rejects?: string;
  /** Everything up to this line is done. */
  line: number;
}

/** Imports a file. With rejected lines the exit code is 1. */
export async function importFile(
  commands: Commands,
  file: string,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<void> {
  const { io } = commands;
  const { once, keepIds, dryRun, json } = options;
  const format = formatOf(file, options.format);
  const stats = file === '-' ? undefined : statsOf(file);
  if (once && keepIds)
    throw new UsageError('--once is of no use with --keep-ids, which needs an empty store.');
  if (once && !stats?.isFile()) throw new UsageError('--once reads FILE twice: it needs a file, not a pipe.');
  const report: Report = { from: file, added: 0, present: 0, rejected: 0, line: 0 };
  const rejects = new Rejects(file, report);
  const open = (): Input => openInput(file, io.stdin, format.gzip, signal);

  const done = () => report.added + report.present + report.rejected;
  const read = async (store: ImportBatch): Promise<void> => {
    const { content, bytesRead } = open();
    const rows = readRows(content, format, columnsOf(options));
    const part = () => (stats?.isFile() ? bytesRead() / Math.max(1, stats.size) : undefined);
    await showing(io, { done, part }, () => importRows(rows, store, options, rejects, report));
  };
  const readIntoStore = async ({ transfer, location }: Store, container: Container): Promise<void> => {
    const { TOKENS } = await import('./container.js');
    const pets = await container.getAsync(TOKENS.petRepository);
    report.to = location;
    if (!keepIds) {
      const scope = once && `import:${await contentHash(open())}`;
      return read(addPets(pets, await container.getAsync(TOKENS.clock), scope));
    }
    if (transfer === undefined) throw new Error('This store does not support --keep-ids.');
    const { pets: found } = await transfer.survey({ signal });
    if (found > 0)
      throw new Error('The store is not empty: --keep-ids needs a new one. Nothing was written.');
    return read(keepPets(transfer));
  };
  try {
    if (dryRun) await read(async (batch) => ({ added: batch.length, present: 0, refused: new Map() }));
    else await withStore(commands, 'A store in memory would be gone after the import.', {}, readIntoStore);
  } catch (error) {
    // An error of the store may come after it stored some of a batch.
    const mayHaveStored = report.line > 0 || (report.to !== undefined && isAnimalStoreError(error));
    if (mayHaveStored && !dryRun) note(io, stopped(report, options, error));
    throw error;
  } finally {
    rejects.close();
  }
  if (report.rejected > 0) commands.exitCode = 1;
  io.stdout.write(json ? `${JSON.stringify(report)}\n` : sentences(report));
}

function statsOf(file: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new UsageError('FILE does not exist.');
  if (stats.isDirectory()) throw new UsageError('FILE is a folder.');
  return stats;
}

const columnsOf = ({ map, keepIds, status }: ImportOptions): Column[] =>
  COLUMNS.filter((field) => keepIds || field !== 'id').map((field) => {
    const required = field !== 'status' || status === undefined;
    return { field, name: map?.get(field) ?? field, required };
  });

/** 128 bits of a SHA-256 of the uncompressed content, in hexadecimal. */
async function contentHash({ content }: Input): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex').slice(0, 32);
}

/** Stores the valid rows and rejects the others. */
async function importRows(
  rows: AsyncIterable<Row[]>,
  store: ImportBatch,
  options: ImportOptions,
  rejects: Rejects,
  report: Report,
): Promise<void> {
  const { maxErrors = Infinity } = options;
  const petOf = judge(options);
  for await (const all of rows) {
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      const valid: ImportedPet[] = [];
      let line = 0;
      for (const row of batch) {
        if (report.rejected > maxErrors) break;
        line = row.line;
        const pet = petOf(row);
        if (typeof pet === 'string') rejects.write(row, pet);
        else valid.push(pet);
      }
      const { added, present, refused } = await store(valid);
      for (const row of refused.size > 0 ? batch : []) {
        const reason = refused.get(row.line);
        if (reason !== undefined) rejects.write(row, reason);
      }
      report.added += added;
      report.present += present;
      report.line = line;
      if (report.rejected > maxErrors) {
        throw new Error(
          `Rejected lines: ${report.rejected}, more than --max-errors. They are in ${report.rejects}.`,
        );
      }
    }
  }
}

/** Returns what finds the animal in a row, or the reason why there is none. */
function judge({ keepIds, status: otherwise = '' as PetStatus }: ImportOptions) {
  let lastId = 0n;
  return ({ line, fields = {}, fault }: Row): ImportedPet | string => {
    if (fault !== undefined) return fault;
    const { id, name, categoryId, status } = fields;
    try {
      const pet = unsavedPet({
        name,
        categoryId,
        status: status === '' ? otherwise : (status ?? otherwise),
      } as NewPet);
      if (!keepIds) return { line, pet };
      if (!isInt64(id) || id <= lastId)
        return `The id must be an int64 greater than ${lastId}, the one before.`;
      lastId = id;
      return { line, pet, id };
    } catch (error) {
      if (error instanceof InvalidPetError) return error.message;
      throw error;
    }
  };
}

const sentences = ({ from, to, added, present, rejected, rejects }: Report): string =>
  [
    to === undefined ? `Valid animals: ${added}. Nothing was stored.` : `Added animals: ${added}`,
    present > 0 ? `Added before: ${present}` : [],
    `  from ${from}`,
    to === undefined ? [] : `  to   ${to}`,
    rejects === undefined ? [] : `Rejected lines: ${rejected}. They are in ${rejects}, with the reasons.`,
  ]
    .flat()
    .map((line) => `${line}\n`)
    .join('');

/** What a command that failed has done, and how to go on. */
function stopped({ added, line }: Report, { once, keepIds }: ImportOptions, error: unknown): string {
  const lines = [`Stopped after line ${line}. Animals added: ${added}.`];
  if (isAnimalStoreError(error)) lines.push(`Some of the next ${BATCH} may be added too.`);
  if (keepIds) lines.push('Start again with a new store.');
  if (once) lines.push('The same command goes on from there.');
  return lines.join(' ');
}

/** The file of rejected lines: CSV, with each line byte for byte. It is there only if there are such lines. */
class Rejects {
  readonly #path: string;
  readonly #report: Report;
  #file: number | undefined;

  constructor(file: string, report: Report) {
    this.#path = `${file === '-' ? 'stdin' : file}.rejects`;
    this.#report = report;
    // What came through a pipe may be nowhere else.
    if (file === '-' && existsSync(this.#path))
      throw new UsageError(`${this.#path} exists: move it away first.`);
    rmSync(this.#path, { force: true });
  }

  write({ line, bytes }: Row, reason: string): void {
    if (this.#file === undefined) {
      this.#file = openSync(this.#path, 'w');
      writeSync(this.#file, 'line,reason,text\n');
      this.#report.rejects = this.#path;
    }
    const latin1 = Buffer.from(csvField(reason)).toString('latin1');
    writeSync(this.#file, `${line},${latin1},${csvField(bytes)}\n`, null, 'latin1');
    this.#report.rejected += 1;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
