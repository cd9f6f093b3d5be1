import type { Command } from 'commander';
import type { Backup } from '../../adapters/sqlite/sqlite-backup.js';
import {
  JSON_OPTION,
  UsageError,
  addCommand,
  interruptible,
  print,
  resultText,
  type Commands,
} from './command-line.js';
import { readSettings } from '../service/settings.js';

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, commands: Commands): void {
  addSqliteCommand(program, commands, 'backup', {
    summary: 'Backs up the SQLite store of STORE_URL, also while services use it, and checks the backup.',
    file: 'the backup, a new file; only you can read it',
    sentences: ({ pets, bytes, store, file }) =>
      `Backed up ${pets} animals, ${bytes} bytes, and checked the backup\n  from ${store}\n  to   ${file}\n`,
  });
  addSqliteCommand(program, commands, 'restore', {
    summary:
      'Checks a backup and puts it in the place of the SQLite store of STORE_URL. Sets the files there aside. Stop all services on the store first.',
    file: 'the backup; it stays where it is',
    sentences: ({ pets, bytes, store, file, setAside }) =>
      `Checked the backup, and restored ${pets} animals, ${bytes} bytes\n  from ${file}\n  to   ${store}\n` +
      (setAside ? `The files that were there are in ${setAside}\n` : ''),
  });
}

interface Texts {
  readonly summary: string;
  readonly file: string;
  readonly sentences: (done: Backup) => string;
}

function addSqliteCommand(
  program: Command,
  { io }: Commands,
  name: 'backup' | 'restore',
  texts: Texts,
): void {
  addCommand(program, name, texts.summary, `animal-store ${name} /backup/animals.db`)
    .argument('<FILE>', texts.file)
    .option(...JSON_OPTION)
    .action(async (file: string, { json }: { readonly json?: true }) => {
      const { storeUrl } = readSettings(io.env, ['STORE_URL']);
      if (!storeUrl.startsWith('sqlite:'))
        throw new UsageError(
          `${name} is for SQLite stores: use the tools of your database, such as mongodump.`,
        );
      const path = storeUrl.slice('sqlite:'.length);
      const sqlite = await import('../../adapters/sqlite/sqlite-backup.js');
      const work = name === 'backup' ? sqlite.backUpSqliteStore : sqlite.restoreSqliteStore;
      const done = await interruptible(io, (signal) => work(path, file, { signal }));
      await print(io.stdout, resultText(json, done, texts.sentences(done)));
    });
}
