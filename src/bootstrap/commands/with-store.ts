import type { Container } from 'inversify';
import type { OpenMode, Store } from '../../application/ports/store.js';
import { readSettings } from '../service/settings.js';
import { TOKENS } from '../service/tokens.js';
import { UsageError, type CommandContext } from './command-context.js';

/**
 * Opens a store for a command, and closes it afterwards.
 * @param url default: `STORE_URL`
 * @param mode `create` only for commands that may be the first to use a store: a mistyped `STORE_URL` must not create
 * one
 */
export async function withStore<Result>(
  { io, modules }: CommandContext,
  { url, mode }: { readonly url?: string; readonly mode: OpenMode },
  use: (store: Store, container: Container) => Promise<Result>,
): Promise<Result> {
  // Imported here, so that --help does not load the adapters.
  const { createContainer } = await import('../service/container.js');
  const settings = readSettings(io.env);
  const storeUrl = url ?? settings.storeUrl;
  if (storeUrl === 'memory:')
    throw new UsageError('A store in memory belongs to its service: no command can reach it.');
  const container = await createContainer({ ...settings, storeUrl }, modules, mode);
  const store = await container.getAsync(TOKENS.store);
  try {
    return await use(store, container);
  } finally {
    await store.close();
  }
}
