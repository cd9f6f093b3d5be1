import type { CopiedStore, CopyRequest } from '../adapters/cli/operations.js';
import { UsageError } from '../adapters/cli/usage-error.js';
import { copyCatalogue, type CopyProgress } from '../application/copy-catalogue.js';
import { createContainer } from './container.js';
import { interruptible } from './interruption.js';
import { loadAdapters } from './load-adapters.js';
import { openStore } from './open-store.js';
import { SettingsError, readSettings, type Environment, type Settings } from './settings.js';
import { TOKENS } from './tokens.js';

/** Copies one store into another, whatever STORE_URL says, until it is done or the process is told to stop. */
export async function copy(
  { from, to }: CopyRequest,
  onProgress: (progress: CopyProgress) => void,
  process: NodeJS.Process,
): Promise<CopiedStore> {
  const settings = await settingsWith('--from', from, process.env);
  const targetSettings = await settingsWith('--to', to, process.env);
  if ([from, to].includes('memory:')) {
    throw new UsageError(
      'A memory store is inside the service that runs it: it cannot be reached from here.',
    );
  }
  const container = await createContainer(settings, await loadAdapters(settings.adapters));
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const clock = container.get(TOKENS.clock);
  return interruptible(process, async (signal) => {
    const source = await named('--from', () =>
      openStore(settings, factories, { mustExist: true, onNotice: tellOn(process.stderr, '--from') }),
    );
    try {
      const target = await named('--to', () =>
        openStore(targetSettings, factories, { onNotice: tellOn(process.stderr, '--to') }),
      );
      try {
        if (source.location === target.location) throw new UsageError('--from and --to name the same store');
        // A store that is away is said to be so at once; later on it is waited for.
        for (const { pets } of [source, target]) await pets.check({ signal });
        const report = await copyCatalogue({ source, target, clock })({ signal, onProgress });
        return { from: source.location, to: target.location, ...report };
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  });
}

/** On a terminal a line takes the place of the progress that stands there. */
const tellOn =
  (stream: NodeJS.WriteStream, option: string) =>
  (line: string): void => {
    stream.write(`${stream.isTTY ? '\r\u001b[K' : ''}${option}: ${line}\n`);
  };

const settingsWith = (option: string, url: string, environment: Environment): Promise<Settings> =>
  named(option, async () => {
    if (url === '') throw new UsageError(`${option} is empty`);
    return readSettings({ ...environment, STORE_URL: url });
  });

/** What is said of STORE_URL is said of the option that takes its place. */
async function named<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new SettingsError(error.faults.map((fault) => fault.replace(/^STORE_URL\b/, option)));
  }
}
