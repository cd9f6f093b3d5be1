import type { Command } from 'commander';
import * as copying from '../../application/copy-catalogue.js';
import type { OpenOptions, Store } from '../../application/ports/store.js';
import {
  JSON_OPTION,
  UsageError,
  addCommand,
  interruptible,
  note,
  print,
  resultText,
} from './command-line.js';
import type { Commands } from './command-line.js';
import { withProgress } from './progress.js';
import { READING } from './with-store.js';

interface Options {
  readonly from: string;
  readonly to: string;
  readonly json?: true;
}

/** Adds `copy`. */
export function addCopyCommand(program: Command, commands: Commands): void {
  const summary =
    'Copies a store into an empty one: animals with their ids, API keys and live idempotency keys. Then compares the two. Stop all services that write to them first.';
  const example = 'animal-store copy --from sqlite:data/animal-store.db --to sqlite:data/copy.db';
  addCommand(program, 'copy', summary, example)
    .requiredOption('--from <url>', 'store to copy, written as in STORE_URL')
    .requiredOption('--to <url>', 'empty store to copy to; it is created if it does not exist')
    .option(...JSON_OPTION)
    .action((options: Options) => interruptible(commands.io, (signal) => copy(commands, options, signal)));
}

async function copy(
  { io, modules }: Commands,
  { from, to, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  if ([from, to].includes('memory:')) {
    throw new UsageError('A store in memory belongs to its service: it can be neither source nor target.');
  }
  const { TOKENS, configure, openStore } = await import('../service/container.js');
  const container = await configure(io.env, modules, ['ADAPTERS']);
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const decorated = await container.getAsync(TOKENS.openOptions);
  const opened: Store[] = [];
  let started = false;
  const open = async (option: string, url: string, how: OpenOptions): Promise<Store> => {
    const onNotice = (line: string): void => note(io, `${option}: ${line}`);
    opened.unshift(await openStore(option, url, factories, { onNotice, ...decorated, ...how }));
    return opened[0] as Store;
  };
  try {
    const source = await open('--from', from, READING);
    const target = await open('--to', to, {});
    if (source.location === target.location) throw new UsageError('--from and --to name the same store.');
    for (const { pets } of opened) await pets.check({ signal });
    started = true;
    const start = copying.copyCatalogue({ source, target, clock: await container.getAsync(TOKENS.clock) });
    let progress: copying.CopyProgress = { phase: 'copying', done: 0, total: 0 };
    const onProgress = (now: copying.CopyProgress): void => void (progress = now);
    // Every animal is copied, then compared.
    const before = () => (progress.phase === 'copying' ? 0 : progress.total);
    const done = () => before() + progress.done;
    const part = () => done() / Math.max(1, 2 * progress.total);
    const unit = 'animals copied or compared';
    const copied = await withProgress(io, { done, part, unit }, () => start({ signal, onProgress }));
    const report = { from: source.location, to: target.location, ...copied };
    await print(io.stdout, resultText(json, report, sentences(report)));
  } catch (error) {
    // A CopyError says so itself, or that nothing was written.
    if (started && !(error instanceof copying.CopyError))
      note(io, 'The target is incomplete, and no service will serve it: start again with a new target.');
    throw error;
  } finally {
    for (const store of opened) await store.close();
  }
}

const sentences = ({ from, to, pets, claims, apiKeys, lastId }: Options & copying.CopyReport): string => `\
Copied animals: ${pets}, live idempotency keys: ${claims}, API keys: ${apiKeys}
  from ${from}
  to   ${to}
All were read again, and are equal. What was written to the source since is not in the target.
New animals get ids greater than ${lastId}.
`;
