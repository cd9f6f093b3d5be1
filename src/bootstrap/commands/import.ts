import type { Command } from 'commander';
import { DEFAULT_STATUS, PET_STATUSES, type Pet } from '../../domain/pet.js';
import { JSON_OPTION, addCommand, interruptible, type Commands } from './command-line.js';
import { COLUMNS, FORMAT_OPTION } from './pet-file.js';
import { integer, oneOf, refuse } from '../service/setting-values.js';
import type { ImportOptions } from './import-file.js';

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
    .action((file: string, options: ImportOptions) =>
      interruptible(commands.io, async (signal) => {
        const { importFile } = await import('./import-file.js');
        await importFile(commands, file, options, signal);
      }),
    );
}

/** The names of columns by field: `name=Animal,categoryId=Kind`. */
function columnNames(text: string): Map<keyof Pet, string> {
  const names = new Map<keyof Pet, string>();
  for (const part of text.split(',')) {
    const [, given, name = ''] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    const field = COLUMNS.find((each) => each === given);
    if (field === undefined || names.has(field))
      refuse(`must be columns by field (${COLUMNS.join(', ')}), such as name=Animal,categoryId=Kind`);
    names.set(field, name);
  }
  return names;
}
