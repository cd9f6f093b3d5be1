import type { Command } from 'commander';
import { sqlitePath } from '../../adapters/sqlite/sqlite-store-factory.js';
import { readSettings } from '../service/settings.js';
import { UsageError, addCommand, print, type CommandContext } from './command-context.js';

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, { io }: CommandContext): void {
  function pathFor(command: string): string {
    const { storeUrl } = readSettings(io.env);
    if (/^sqlite:/i.test(storeUrl)) return sqlitePath(storeUrl);
    throw new UsageError(`${command} is for SQLite stores: use the tools of your database.`);
  }

  addCommand(
    program,
    'backup',
    'Backs up the SQLite store of STORE_URL, also while services use it, and checks the backup.',
    'animal-store backup /backup/animals.db',
  )
    .argument('<FILE>', 'the backup, a new file; only you can read it')
    .action(async (file: string) => {
      const { backUpSqliteStore } = await import('../../adapters/sqlite/index.js');
      const pets = await backUpSqliteStore(pathFor('backup'), file);
      await print(io, `Backed up animals: ${pets}. The backup is sound.\n`);
    });

  addCommand(
    program,
    'restore',
    'Checks a backup and copies it to the path of STORE_URL, where no file may exist.',
    'animal-store restore /backup/animals.db',
  )
    .argument('<FILE>', 'the backup; it stays where it is')
    .action(async (file: string) => {
      const { restoreSqliteStore } = await import('../../adapters/sqlite/index.js');
      const pets = await restoreSqliteStore(pathFor('restore'), file);
      await print(io, `Restored animals: ${pets}. The copy is sound.\n`);
    });
}
