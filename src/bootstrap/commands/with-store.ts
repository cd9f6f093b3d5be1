import type { Container } from 'inversify';
import type { OpenMode, Store } from '../../application/ports/store.js';
import { UsageError, note, type Commands, type HostProcess } from './command-line.js';
import { unfinishedCopy } from '../service/errors.js';
import { TOKENS, type Adapter } from '../service/wiring.js';

/**
 * Opens the store of `STORE_URL` for a command, and closes it afterwards. Refuses a copy that has not finished.
 * @param mode `existing` for commands on what is there, because a mistyped `STORE_URL` must not create a store
 */
export async function withStore(
  { io, adapters }: Commands,
  mode: OpenMode,
  use: (store: Store, container: Container) => Promise<void>,
): Promise<void> {
  const { configure } = await import('../service/container.js');
  const opening: Adapter = ({ replace }) =>
    replace(TOKENS.openOptions, { mode, onNotice: (line) => note(io, line) });
  // The adapters come later: they may decorate how the store is opened.
  const container = await configure(io.env, [opening, ...adapters], ['STORE_URL', 'ADAPTERS']);
  if (container.get(TOKENS.settings).storeUrl === 'memory:')
    throw new UsageError('A store in memory belongs to its service: no command can reach it.');
  const store = await container.getAsync(TOKENS.store);
  try {
    if (await store.transfer?.isUnfinished()) throw unfinishedCopy(store.location);
    await use(store, container);
  } finally {
    await store.close();
  }
}

/** Says on stderr, every five seconds while `work` runs, how far it is: a line that `text` returns. */
export async function withProgress<T>(
  io: HostProcess,
  text: () => string,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => note(io, text()), 5000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
