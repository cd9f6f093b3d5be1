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
): Promise<void> {
  if (from === 'memory:' || to === 'memory:')
    throw new cli.UsageError(
      'A store in memory belongs to its service: it cannot be copied from or to.',
    );
  const { configure } = await import('../service/container.js');
  const container = await configure(io.env, adapters, ['ADAPTERS']);
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const openOptions = await container.getAsync(TOKENS.openOptions);
  const clock = await container.getAsync(TOKENS.clock);
  const opened: Store[] = [];
  const open = async (name: string, url: string, mode: OpenMode): Promise<Store> => {
    const onNotice = (line: string): void => cli.note(io, `${name}: ${line}`);
    const store = await openStore(url, { onNotice, ...openOptions, mode, factories, name });
    opened.unshift(store);
    return store;
  };
  try {
    const source = await open('--from', from, 'read');
    const target = await open('--to', to, 'create');
    if (source.location === target.location)
      throw new cli.UsageError('--from and --to name the same store.');
    let done = 0;
    const onProgress = (animals: number): void => {
      done = animals;
    };
    const progress = (): string => `${done} animals copied or compared`;
    const copied = await withProgress(io, progress, () =>
      copyCatalogue({ source, target, clock, signal, onProgress }),
    );
    const report = { from: source.location, to: target.location, ...copied };
    const lines = [
      `Copied animals: ${copied.pets}, live idempotency keys: ${copied.claims}, API keys: ${copied.apiKeys}`,
      `  from ${report.from}`,
      `  to   ${report.to}`,
      'All were read again, and are equal. What was written to the source since is not in the target.',
      `New animals get ids greater than ${copied.lastId}.`,
    ];
    await cli.printResult(io, cli.resultText(json, report, lines));
  } finally {
    for (const store of opened) await store.close();
  }
}
