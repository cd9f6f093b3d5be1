import type { Command } from 'commander';
import * as copying from '../../application/copy-catalogue.js';
import type { OpenOptions, Store } from '../../application/ports/store.js';
import { stringify } from '../../exact-json.js';
import { UsageError, addCommand, interruptible, note } from './command-line.js';
import type { Commands, Io } from './command-line.js';
import { progressBar } from './progress.js';
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
    .option('--json', 'print JSON, for machines')
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
  const container = await configure({ ...io.env, STORE_URL: '' }, modules); // STORE_URL is not used: it may be wrong
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const opened: Store[] = [];
  const open = async (option: string, url: string, how: OpenOptions): Promise<Store> => {
    const onNotice = (line: string): void => note(io, `${option}: ${line}`);
    opened.unshift(await openStore(option, url, factories, { ...how, onNotice }));
    return opened[0] as Store;
  };
  try {
    const source = await open('--from', from, READING);
    const target = await open('--to', to, {});
    if (source.location === target.location) throw new UsageError('--from and --to name the same store.');
    for (const { pets } of opened) await pets.check({ signal });
    const start = copying.copyCatalogue({ source, target, clock: await container.getAsync(TOKENS.clock) });
    const copied = await shown(io, (onProgress) => start({ signal, onProgress }));
    const report = { from: source.location, to: target.location, ...copied };
    io.stdout.write(json ? `${stringify(report)}\n` : sentences(report));
  } finally {
    for (const store of opened) await store.close();
  }
}

/** Shows on a terminal how far a copy is, with a bar for each phase. If the copy fails, says what became of the target. */
async function shown(
  io: Io,
  start: (onProgress: (progress: copying.CopyProgress) => void) => Promise<copying.CopyReport>,
): Promise<copying.CopyReport> {
  const format = '{phase} [{bar}] {percentage} % | {value} of {total} | {eta_formatted} left';
  const bar = await progressBar(io, format);
  let shown = '';
  const onProgress = ({ phase, done, total }: copying.CopyProgress): void => {
    if (phase !== shown) {
      bar.stop();
      bar.start(total, 0, { phase });
      shown = phase;
    }
    bar.setTotal(total);
    bar.update(done);
  };
  try {
    return await start(onProgress).finally(() => bar.stop());
  } catch (error) {
    // A CopyError says so itself, or that nothing was written.
    if (!(error instanceof copying.CopyError))
      note(io, 'The target is incomplete: start again with a new target.');
    throw error;
  }
}

const sentences = ({ from, to, pets, claims, apiKeys, lastId }: Options & copying.CopyReport): string => `\
Copied animals: ${pets}, live idempotency keys: ${claims}, API keys: ${apiKeys}
  from ${from}
  to   ${to}
The two stores are equal. New animals get ids greater than ${lastId}.
`;
