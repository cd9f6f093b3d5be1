import type { Command } from 'commander';
import { copyCatalogue } from '../../application/copy-catalogue.js';
import { addCommand, print, type CommandContext } from './command-context.js';
import { withStore } from './with-store.js';

export function addCopyCommand(program: Command, context: CommandContext): void {
  const summary =
    'Copies animals, with their ids, and API keys into an empty store, and compares the counts. ' +
    'Stop all services that write to either store first.';
  const example = 'animal-store copy --from sqlite:data/animal-store.db --to sqlite:data/copy.db';
  addCommand(program, 'copy', summary, example)
    .requiredOption('--from <url>', 'store to copy, written as in STORE_URL')
    .requiredOption('--to <url>', 'empty store to copy to; it is created if it does not exist')
    .action(({ from, to }: { readonly from: string; readonly to: string }) =>
      withStore(context, { url: from, mode: 'read' }, (source) =>
        withStore(context, { url: to, mode: 'create' }, async (target) => {
          const { pets, apiKeys } = await copyCatalogue(source, target, { signal: context.signal });
          await print(context.io, `Copied animals: ${pets}, API keys: ${apiKeys}\n`);
        }),
      ),
    );
}
