import type { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import {
  CopyError,
  copyCatalogue,
  type CopyProgress,
  type CopyReport,
} from '../application/copy-catalogue.js';
import type { Store } from '../application/ports/store.js';
import { stringify } from '../exact-json.js';
import { JSON_OPTION, UsageError, addCommand, interruptible, note, progressBar } from './command-line.js';
import type { Commands, Io } from './command-line.js';
import { TOKENS, configure } from './container.js';
import { openStore } from './stores.js';

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
    .action((options: Options) => copy(commands, options));
}

async function copy({ io, modules }: Commands, { from, to, json }: Options): Promise<void> {
  if ([from, to].includes('memory:')) {
    throw new UsageError(
      'A store in memory belongs to the service that runs it: it cannot be copied from here.',
    );
  }
  const container = await configure({ ...io.env, STORE_URL: '' }, modules); // STORE_URL is not used, so it may be wrong
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const clock = await container.getAsync(TOKENS.clock);
  const open = (option: string, url: string, mustExist: boolean): Promise<Store> =>
    openStore(option, url, factories, { mustExist, onNotice: (line) => note(io, `${option}: ${line}`) });
  await interruptible(io, async (signal) => {
    const source = await open('--from', from, true);
    try {
      const target = await open('--to', to, false);
      try {
        if (source.location === target.location) throw new UsageError('--from and --to name the same store.');
        for (const { pets } of [source, target]) await pets.check({ signal });
        const report = await copied(io, (onProgress) =>
          copyCatalogue({ source, target, clock })({ signal, onProgress }),
        );
        const where = { from: source.location, to: target.location };
        io.stdout.write(json ? `${stringify({ ...where, ...report })}\n` : sentences(where, report));
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  });
}

/** Shows how far a copy is, one bar for each phase, and what became of the target of one that fails. */
async function copied(
  { stderr }: Io,
  start: (onProgress: (progress: CopyProgress) => void) => Promise<CopyReport>,
): Promise<CopyReport> {
  let phase = '';
  let bar: SingleBar | undefined;
  try {
    return await start((progress) => {
      if (progress.phase !== phase) {
        bar?.stop();
        phase = progress.phase;
        bar = progressBar(
          stderr,
          `${phase} [{bar}] {percentage} % | {value} of {total} | {eta_formatted} left`,
        );
        bar.start(progress.total, 0);
      }
      bar?.setTotal(progress.total);
      bar?.update(progress.done);
    });
  } catch (error) {
    // A CopyError says this itself.
    if (!(error instanceof CopyError)) bar?.stop();
    if (!(error instanceof CopyError))
      stderr.write('The target is incomplete: start again with a new target.\n');
    throw error;
  } finally {
    bar?.stop();
  }
}

const sentences = (
  { from, to }: Omit<Options, 'json'>,
  { pets, claims, apiKeys, lastId }: CopyReport,
): string => `\
Copied ${count(pets, 'animal')}, ${count(claims, 'live idempotency key')} and ${count(apiKeys, 'API key')}
  from ${from}
  to   ${to}
The two stores are equal. New animals get ids greater than ${lastId.toLocaleString('en-US')}.
`;

const count = (amount: number, what: string): string =>
  `${amount.toLocaleString('en-US')} ${what}${amount === 1 ? '' : 's'}`;
