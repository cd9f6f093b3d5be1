import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { unlessAborted, type CallOptions } from '../../application/call-options.js';
import type { OpenMode } from '../../application/ports/store.js';
import { requireOpen, requireWritable } from '../../application/store-rules.js';
import { groupCommit } from './group-commit.js';
import { retryWhileBusy } from './retry-while-busy.js';
import { throwAsUnavailable } from './sqlite-errors.js';

/** A prepared statement. Rows are arrays in the order of the columns, with integers as bigints. */
interface Statement<Row> {
  get(...parameters: SQLInputValue[]): Row | undefined;
  all(...parameters: SQLInputValue[]): Row[];
  run(...parameters: SQLInputValue[]): { changes: bigint; lastInsertRowid: bigint };
}

/** The one connection of a store, shared by its ports. */
export type SqliteConnection = ReturnType<typeof sqliteConnection>;

/** @param beforeWriting called before each transaction that writes; throws to refuse the transaction */
export function sqliteConnection(
  database: DatabaseSync,
  mode: OpenMode,
  beforeWriting: () => void,
) {
  const writes = groupCommit(database, beforeWriting);
  let closing: Promise<void> | undefined;

  return {
    /** Prepares a statement. The caller vouches for `Row`. STRICT tables keep to it. */
    prepare: <Row = never>(sql: string) => database.prepare(sql) as unknown as Statement<Row>,

    async read<Result>(doing: string, { signal }: CallOptions = {}, work: () => Result) {
      signal?.throwIfAborted();
      const readOnce = (): Result => {
        requireOpen(closing === undefined, doing);
        return work();
      };
      return retryWhileBusy(signal, readOnce).catch(throwAsUnavailable(doing));
    },

    /** Resolves after the commit. `work` may run again; it throws errors of the store before its first change. */
    async write<Result>(doing: string, { signal }: CallOptions = {}, work: () => Result) {
      signal?.throwIfAborted();
      requireOpen(closing === undefined, doing);
      requireWritable(mode, doing);
      const written = writes.submit(work, signal).catch(throwAsUnavailable(doing));
      return unlessAborted(written, signal);
    },

    /** Refuses new calls, and closes when all writes are settled. Safe to call twice. */
    close: () => {
      closing ??= writes.end().then(() => database.close());
      return closing;
    },
  };
}
