import type { Command } from 'commander';
import { sqlitePath, sqliteStoreFactory } from '../../adapters/sqlite/sqlite-store-factory.js';
import { SettingsError, readSettings } from '../service/settings.js';
import * as cli from './command-line.js';

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, { io }: cli.Commands): void {
  for (const { name, summary, argument } of COMMANDS)
    cli
      .addCommand(program, name, summary, `animal-store ${name} /backup/animals.db`)
      .argument('<FILE>', argument)
      .option(...cli.JSON_OPTION)
      .action((file: string, { json }: Options) => backUpOrRestore(io, name, file, json));
}

const COMMANDS = [
  {
    name: 'backup',
    summary:
      'Backs up the SQLite store of STORE_URL, also while services use it, and checks the backup.',
    argument: 'the backup, a new file; only you can read it',
  },
  {
    name: 'restore',
    summary:
      'Checks a backup and puts it in the place of the SQLite store of STORE_URL. Sets the files there aside. Stop all services on the store first.',
    argument: 'the backup; it stays where it is',
  },
] as const;

interface Options {
  readonly json?: true;
}

async function backUpOrRestore(
  io: cli.HostProcess,
  command: 'backup' | 'restore',
  file: string,
  json: true | undefined,
): Promise<void> {
  if (file === '-')
    throw new cli.UsageError(
      `${command} needs a file, not standard input or output. Write ./- for a file named -.`,
    );
  const { storeUrl } = readSettings(io.env, ['STORE_URL']);
  if (!storeUrl.startsWith('sqlite:'))
    throw new cli.UsageError(`${command} is for SQLite stores: use the tools of your database.`);
  const fault = await sqliteStoreFactory.check?.(storeUrl);
  if (fault !== undefined) throw new SettingsError([`STORE_URL ${fault}`]);
  const sqlite = await import('../../adapters/sqlite/sqlite-backup.js');
  const work = command === 'backup' ? sqlite.backUpSqliteStore : sqlite.restoreSqliteStore;
  const store = sqlitePath(storeUrl);
  const done = await cli.interruptible(io, (signal) => work(store, file, { signal }));
  const verb = command === 'backup' ? 'Backed up' : 'Restored';
  const lines = [
    `${verb} ${done.pets} animals, and checked the copy`,
    `  store  ${done.store}`,
    `  backup ${done.file}`,
  ];
  if (done.setAside) lines.push(`The files that were there are in ${done.setAside}`);
  await cli.printResult(io, cli.resultText(json, done, lines));
}
