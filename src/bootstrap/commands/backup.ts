import type { Command } from 'commander';
import type { Backup, BackupOptions, Restored } from '../../adapters/sqlite/sqlite-backup.js';
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
import { readSettings } from '../service/settings.js';

interface Options {
  readonly json?: true;
}

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, commands: Commands): void {
  const backup = 'Backs up the SQLite store of STORE_URL, also while services use it, and checks the backup.';
  addCommand(program, 'backup', backup, 'animal-store backup /backup/animals.db')
    .argument('<FILE>', 'the backup, a new file; only you can read it')
    .option(...JSON_OPTION)
    .action((file: string, { json }: Options) =>
      onSqliteStore(commands, 'backup', json, async (path, call) => {
        const { backUpSqliteStore } = await import('../../adapters/sqlite/sqlite-backup.js');
        return backUpSqliteStore(path, file, call);
      }),
    );
  const restore =
    'Checks a backup and puts it in the place of the SQLite store of STORE_URL. Sets the files there aside. Stop all services on the store first.';
  addCommand(program, 'restore', restore, 'animal-store restore /backup/animals.db')
    .argument('<FILE>', 'the backup; it stays where it is')
    .option(...JSON_OPTION)
    .action((file: string, { json }: Options) =>
      onSqliteStore(commands, 'restore', json, async (path, call) => {
        const { restoreSqliteStore } = await import('../../adapters/sqlite/sqlite-backup.js');
        return restoreSqliteStore(path, file, call);
      }),
    );
}

async function onSqliteStore(
  { io }: Commands,
  name: string,
  json: true | undefined,
  work: (path: string, call: BackupOptions) => Promise<Backup | Restored>,
): Promise<void> {
  const { storeUrl } = readSettings(io.env, ['STORE_URL']);
  if (!storeUrl.startsWith('sqlite:'))
    throw new UsageError(`${name} is for SQLite stores. ${otherWay(storeUrl)}`);
  const onNotice = (line: string): void => note(io, line);
  const path = storeUrl.slice('sqlite:'.length);
  const done = await interruptible(io, (signal) => work(path, { signal, onNotice }));
  await print(io.stdout, resultText(json, done, sentences(done)));
}

function sentences(done: Backup | Restored): string {
  const { pets, bytes, store, file } = done;
  if (!('setAside' in done))
    return `Backed up ${pets} animals, ${bytes} bytes, and checked the backup\n  from ${store}\n  to   ${file}\n`;
  const aside = done.setAside ? `The files that were there are in ${done.setAside}\n` : '';
  return `Checked the backup, and restored ${pets} animals, ${bytes} bytes\n  from ${file}\n  to   ${store}\n${aside}`;
}

function otherWay(url: string): string {
  if (url.startsWith('mongodb'))
    return 'MongoDB has mongodump and mongorestore: see docs/operations/mongodb.md.';
  return url === 'memory:' ? 'A store in memory keeps nothing.' : 'Use the tools of the store of STORE_URL.';
}
