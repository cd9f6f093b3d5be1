import { setImmediate } from 'node:timers/promises';
import type {
  CheckedCase,
  PortCheck,
  StoreCheckProgress,
  StoreCheckRequest,
} from '../adapters/cli/operations.js';
import { UsageError } from '../adapters/cli/usage-error.js';
import { storeSubjects } from './checked-store.js';
import { loadContractSuites, type StoreContract } from './contract-suites.js';
import { interruptible } from './interruption.js';

/**
 * Holds the store that a module brings to the contracts of its ports, until it is done or the process is told
 * to stop. Errors that nobody handles are the store's too: they fail the case that they came in.
 */
export async function checkStore(
  { module, url, only, animals, timeLimit }: StoreCheckRequest,
  onProgress: (progress: StoreCheckProgress) => void,
  process: NodeJS.Process,
): Promise<readonly PortCheck[]> {
  const suites = await loadContractSuites();
  const isWanted = (name: string): boolean => only === undefined || name.includes(only);
  const wanted = suites.storeContracts.filter(({ cases }) => cases.some(({ name }) => isWanted(name)));
  if (wanted.length === 0) throw new UsageError(`no case has ${JSON.stringify(only)} in its name`);
  const open = await storeSubjects(module, url);
  return interruptible(process, (signal) =>
    withStrayErrors(process, async (takeStray) => {
      const options = { signal, animals, timeLimit };
      // Better one error than the same for every case.
      await suites.runContract(OPENING, open, { ...options, onResult: rethrow });
      const checks: PortCheck[] = [];
      for (const contract of wanted) {
        const { port } = contract;
        const strays = new Map<string, unknown>();
        let done = 0;
        let failed = 0;
        const results = await suites.runContract(contract, open, {
          ...options,
          only: isWanted,
          onResult: async ({ name, outcome }, count) => {
            await setImmediate(); // only now is told what nobody handled
            const stray = takeStray();
            if (stray && outcome !== 'failed') strays.set(name, stray.error);
            done += 1;
            if (stray || outcome === 'failed') failed += 1;
            onProgress({ port, done, count, failed });
          },
        });
        const cases = results.map(({ name, outcome, reason, error, notes, milliseconds }): CheckedCase =>
          strays.has(name)
            ? { name, outcome: 'failed', error: unhandled(strays.get(name)), notes, milliseconds }
            : { name, outcome, reason, error, notes, milliseconds },
        );
        checks.push({ port, undeclared: suites.undeclaredCapabilities(results), cases });
      }
      return checks;
    }),
  );
}

const OPENING: StoreContract = {
  port: 'StoreFactory',
  cases: [{ name: 'opens and is disposed of', run: async () => {} }],
};

function rethrow({ error }: { readonly error?: unknown }): void {
  if (error === undefined) return;
  if (error instanceof UsageError) throw error;
  const text = error instanceof Error ? (error.stack ?? error.message) : 'it threw what is no Error';
  throw new Error(`The store cannot be opened, or disposed of: ${text}`, { cause: error });
}

const unhandled = (cause: unknown): Error =>
  new Error('an error was thrown, or a promise rejected, that nobody handled', { cause });

interface Stray {
  readonly error: unknown;
}

/** Collects, while `work` is done, what would end the process; the first since it was last asked for is taken. */
async function withStrayErrors<T>(
  process: NodeJS.Process,
  work: (take: () => Stray | undefined) => Promise<T>,
): Promise<T> {
  let first: Stray | undefined;
  const onError = (error: unknown): void => {
    first ??= { error };
  };
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  for (const event of events) process.on(event, onError);
  try {
    return await work(() => {
      const taken = first;
      first = undefined;
      return taken;
    });
  } finally {
    for (const event of events) process.off(event, onError);
  }
}
