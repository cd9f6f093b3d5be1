import type { Command } from 'commander';
import { sqlitePath, sqliteStoreFactory } from '../../adapters/sqlite/sqlite-store-factory.js';
import { SettingsError, readSettings } from '../service/settings.js';
import * as cli from './command-line.js';

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, commands: cli.Commands): void {
  const backup =
    'Backs up the SQLite store of STORE_URL, also while services use it, and checks the backup.';
  add(program, commands, 'backup', backup, 'the backup, a new file; only you can read it');
  const restore =
    'Checks a backup and puts it in the place of the SQLite store of STORE_URL. Sets the files there aside. Stop all services on the store first.';
  add(program, commands, 'restore', restore, 'the backup; it stays where it is');
}

function add(
  program: Command,
  { io }: cli.Commands,
  name: 'backup' | 'restore',
  summary: string,
  fileSummary: string,
): void {
  cli
    .addCommand(program, name, summary, `animal-store ${name} /backup/animals.db`)
    .argument('<FILE>', fileSummary)
    .option(...cli.JSON_OPTION)
    .action(async (file: string, { json }: { readonly json?: true }) => {
      const { storeUrl } = readSettings(io.env, ['STORE_URL']);
      if (!storeUrl.startsWith('sqlite:'))
        throw new cli.UsageError(`${name} is for SQLite stores: use the tools of your database.`);
      const fault = await sqliteStoreFactory.check?.(storeUrl);
      if (fault !== undefined) throw new SettingsError([`STORE_URL ${fault}`]);
      const sqlite = await import('../../adapters/sqlite/sqlite-backup.js');
      const work = name === 'backup' ? sqlite.backUpSqliteStore : sqlite.restoreSqliteStore;
      const store = sqlitePath(storeUrl);
      const done = await cli.interruptible(io, (signal) => work(store, file, { signal }));
      const sentences =
        `${name === 'backup' ? 'Backed up' : 'Restored'} ${done.pets} animals, and checked the copy\n` +
        `  store  ${done.store}\n  backup ${done.file}\n` +
        (done.setAside ? `The files that were there are in ${done.setAside}\n` : '');
      await cli.print(io.stdout, cli.resultText(json, done, sentences));
    });
}
