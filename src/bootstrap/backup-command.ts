import type { Command } from 'commander';
import { UsageError, addCommand, interruptible, type Commands } from './command-line.js';
import { progressBar } from './progress.js';
import { integer } from './setting-values.js';
import { readSettings } from './settings.js';

interface Options {
  readonly keep?: number;
  readonly json?: true;
}

/** Adds `backup`. */
export function addBackupCommand(program: Command, commands: Commands): void {
  const summary =
    'Backs up the SQLite store of STORE_URL, also while services use it, and checks the backup.';
  addCommand(program, 'backup', summary, 'animal-store backup /backup/animals.db --keep 7')
    .argument('<FILE>', 'the backup; only you can read it')
    .option('--keep <number>', 'replace FILE, and keep earlier ones as FILE.1 and so on', integer(1, 1000))
    .option('--json', 'print JSON, for machines')
    .action((file: string, options: Options) =>
      interruptible(commands.io, (signal) => backUp(commands, file, options, signal)),
    );
}

async function backUp(
  { io }: Commands,
  file: string,
  { keep, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  const { storeUrl } = readSettings(io.env);
  if (!storeUrl.startsWith('sqlite:'))
    throw new UsageError(`backup is for SQLite stores. ${otherWay(storeUrl)}`);
  const { backUpSqliteStore } = await import('../adapters/sqlite/back-up-sqlite-store.js');
  const bar = await progressBar(io, 'backing up [{bar}] {percentage} % | {eta_formatted} left');
  bar.start(1, 0);
  const onProgress = (done: number, total: number): void => {
    bar.setTotal(total);
    bar.update(done);
  };
  const backup = await backUpSqliteStore(storeUrl.slice('sqlite:'.length), file, {
    keep,
    signal,
    onProgress,
  }).finally(() => bar.stop());
  const { pets, bytes, store, file: path } = backup;
  const text = `Backed up ${pets} animals, ${bytes} bytes, and checked the backup\n  from ${store}\n  to   ${path}\n`;
  io.stdout.write(json ? `${JSON.stringify(backup)}\n` : text);
}

function otherWay(url: string): string {
  if (url.startsWith('mongodb')) return 'Back up MongoDB with mongodump: see docs/operations/mongodb.md.';
  return url === 'memory:' ? 'A store in memory keeps nothing.' : 'Use the tools of the store of STORE_URL.';
}
