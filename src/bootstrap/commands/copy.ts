import type { Command } from 'commander';
import { copyCatalogue } from '../../application/copy-catalogue.js';
import type { OpenMode, Store } from '../../application/ports/store.js';
import * as cli from './command-line.js';
import { withProgress } from './with-store.js';
import { openStore } from '../service/stores.js';
import { TOKENS } from '../service/wiring.js';

interface Options {
  readonly from: string;
  readonly to: string;
  readonly json?: true;
}

export function addCopyCommand(program: Command, commands: cli.Commands): void {
  const summary =
    'Copies a store into an empty one: animals with their ids, API keys and live idempotency keys. Then compares the two. Stop all services that write to them first.';
  const example = 'animal-store copy --from sqlite:data/animal-store.db --to sqlite:data/copy.db';
  cli
    .addCommand(program, 'copy', summary, example)
    .requiredOption('--from <url>', 'store to copy, written as in STORE_URL')
    .requiredOption('--to <url>', 'empty store to copy to; it is created if it does not exist')
    .option(...cli.JSON_OPTION)
    .action((options: Options) =>
      cli.interruptible(commands.io, (signal) => copy(commands, options, signal)),
    );
}

async function copy(
  { io, adapters }: cli.Commands,
  { from, to, json }: Options,
  signal: AbortSignal,
) {
  if ([from, to].includes('memory:'))
    throw new cli.UsageError(
      'A store in memory belongs to its service: it cannot be copied from or to.',
    );
  const { configure } = await import('../service/container.js');
  const container = await configure(io.env, adapters, ['ADAPTERS']);
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const decorated = await container.getAsync(TOKENS.openOptions);
  const clock = await container.getAsync(TOKENS.clock);
  const opened: Store[] = [];
  const open = async (option: string, url: string, mode: OpenMode): Promise<Store> => {
    const onNotice = (line: string): void => cli.note(io, `${option}: ${line}`);
    const opening = { onNotice, ...decorated, mode, factories, name: option };
    opened.unshift(await openStore(url, opening));
    return opened[0] as Store;
  };
  try {
    const source = await open('--from', from, 'read');
    const target = await open('--to', to, 'create');
    if (source.location === target.location)
      throw new cli.UsageError('--from and --to name the same store.');
    let done = 0;
    const progress = (): string => `${done} animals copied or compared`;
    const onProgress = (animals: number): void => void (done = animals);
    const copying = { source, target, clock, onProgress, signal };
    const copied = await withProgress(io, progress, () => copyCatalogue(copying));
    const report = { from: source.location, to: target.location, ...copied };
    const sentences = `\
Copied animals: ${copied.pets}, live idempotency keys: ${copied.claims}, API keys: ${copied.apiKeys}
  from ${report.from}
  to   ${report.to}
All were read again, and are equal. What was written to the source since is not in the target.
New animals get ids greater than ${copied.lastId}.
`;
    await cli.print(io.stdout, cli.resultText(json, report, sentences));
  } finally {
    for (const store of opened) await store.close();
  }
}
