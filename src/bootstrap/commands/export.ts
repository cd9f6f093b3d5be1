import type { Command } from 'commander';
import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { unlessAborted } from '../../application/call-options.js';
import { petPages } from '../../application/pet-pages.js';
import { addCommand, fileError, note, print, type CommandContext } from './command-context.js';
import { csvLine, csvLineOf } from './csv-file.js';
import { ndjsonLineOf } from './ndjson-file.js';
import { COLUMNS, formatOf, formatOption } from './pet-file.js';
import { withStore } from './with-store.js';

export function addExportCommand(program: Command, context: CommandContext): void {
  const summary =
    'Writes every animal of the store of STORE_URL, in ascending order of id, to a new file.';
  addCommand(program, 'export', summary, 'animal-store export animals.csv')
    .argument('<FILE>', 'file to create; - for standard output')
    .addOption(formatOption())
    .action((file: string, { format }: { readonly format?: string }) =>
      exportPets(context, file, formatOf(file, format) === 'csv'),
    );
}

async function exportPets(context: CommandContext, file: string, asCsv: boolean): Promise<void> {
  const { io, signal } = context;
  await withStore(context, { mode: 'read' }, async (store) => {
    let exported = 0;
    async function* lines(): AsyncGenerator<string> {
      if (asCsv) yield csvLine(COLUMNS);
      for await (const page of petPages(store.pets, { signal })) {
        yield page.map(asCsv ? csvLineOf : ndjsonLineOf).join('');
        exported += page.length;
      }
    }
    if (file === '-') {
      await pipeline(lines(), io.stdout, { end: false, signal });
      await unlessAborted(print(io, ''), signal); // waits for stdout: the exit would lose what it still holds
    } else {
      await writeNewFile(file, lines(), signal);
    }
    note(io, `Exported animals: ${exported}`);
  });
}

/** Creates the file, which only its owner can read, and removes it if writing fails. */
async function writeNewFile(
  file: string,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: Error) => {
    throw fileError('FILE cannot be created', error);
  });
  try {
    await pipeline(lines, handle.createWriteStream({ flush: true }), { signal });
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
