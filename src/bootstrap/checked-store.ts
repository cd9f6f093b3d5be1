import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerModule } from 'inversify';
import { UsageError } from '../adapters/cli/usage-error.js';
import { createContainer } from './container.js';
import type { StoreSubject } from './contract-suites.js';
import { firstLine, importModule, isContainerModule, whyNotLoaded } from './load-adapters.js';
import { openStore } from './open-store.js';
import { SettingsError, readSettings } from './settings.js';
import type { OpenOptions, Store } from '../application/ports/store.js';
import { TOKENS } from './tokens.js';

type Open = () => Promise<StoreSubject>;

/**
 * How a module opens fresh stores, one for each case: by its `openStore`, or by the store factory of its
 * `adapter`, with a URL in which `{folder}` and `{name}` stand for a new folder and a new name.
 * @throws {UsageError} the module cannot be loaded, or does not say how
 */
export async function storeSubjects(specifier: string, url: string | undefined): Promise<Open> {
  const exported = await importModule(specifier).catch((cause: unknown) => {
    throw new UsageError(`${specifier} cannot be loaded: ${whyNotLoaded(specifier, cause)}`, { cause });
  });
  const { openStore: open, adapter, storeUrl, removeStore } = exported;
  if (typeof open === 'function') {
    if (url !== undefined) throw new UsageError(`--url is for an adapter: ${specifier} exports openStore`);
    return () => opened(specifier, open as () => unknown);
  }
  if (!isContainerModule(adapter)) {
    throw new UsageError(
      `${specifier} exports neither openStore, a function, nor adapter, a ContainerModule of inversify`,
    );
  }
  const template = url ?? storeUrl;
  if (typeof template !== 'string') {
    throw new UsageError(
      `--url is missing, and ${specifier} exports no storeUrl: a URL as in STORE_URL, in which {folder} and {name} stand for new ones`,
    );
  }
  const remove = typeof removeStore === 'function' ? (removeStore as RemoveStore) : undefined;
  return adapterSubjects(adapter, template, remove);
}

async function opened(specifier: string, open: () => unknown): Promise<StoreSubject> {
  const subject = await open();
  if (isStoreSubject(subject)) return subject;
  throw new UsageError(`openStore of ${specifier} has to resolve to an object with pets and dispose`);
}

const isStoreSubject = (value: unknown): value is StoreSubject =>
  typeof value === 'object' &&
  value !== null &&
  'pets' in value &&
  'dispose' in value &&
  typeof value.dispose === 'function';

/** Takes a store away that was closed. */
type RemoveStore = (url: string) => Promise<void> | void;

async function adapterSubjects(
  adapter: ContainerModule,
  template: string,
  remove: RemoveStore | undefined,
): Promise<Open> {
  const settings = await namingUrl(async () => readSettings({ STORE_URL: template }));
  const container = await createContainer(settings, [adapter]);
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  return async () => {
    const folder = template.includes('{folder}')
      ? await mkdtemp(join(tmpdir(), 'animal-store-check-'))
      : undefined;
    const storeUrl = template
      .replaceAll('{folder}', folder ?? '')
      .replaceAll('{name}', `check_${randomBytes(8).toString('hex')}`);
    const handles: Store[] = [];
    const another = async (options?: OpenOptions): Promise<Store> => {
      const store = await namingUrl(() => openStore({ ...settings, storeUrl }, factories, options));
      handles.push(store);
      return store;
    };
    const close = async (): Promise<void> => {
      for (const handle of handles) await handle.close();
    };
    const dispose = async (): Promise<void> => {
      try {
        await close();
        await remove?.(storeUrl);
      } finally {
        if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      }
    };
    try {
      const first = await (storeUrl === template ? openOnly(another) : another());
      await assertEmpty(first);
      return {
        pets: first.pets,
        apiKeys: first.apiKeys,
        // Opened when it is asked for, by some stores.
        get transfer() {
          return first.transfer;
        },
        async reopen() {
          await close();
          return another();
        },
        another: () => another(),
        dispose,
      };
    } catch (error) {
      await dispose().catch(() => {}); // why it could not be opened matters more
      throw error;
    }
  };
}

/** Opens the one store that a URL names: it may be in use, and none is made by looking. */
async function openOnly(open: (options: OpenOptions) => Promise<Store>): Promise<Store> {
  const store = await open({ mustExist: true }).catch((cause: unknown) => {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${ONE_STORE}; this one cannot be opened: ${firstLine(cause)}`, { cause });
  });
  // What the cases add would stay in it.
  if (store.pets.capabilities.durable) throw new UsageError(ONE_STORE);
  return store;
}

const ONE_STORE =
  '--url names one store, which keeps what is added: each case needs a new one, by {folder} or {name}';

/** A store that anyone uses must not be tried out. */
async function assertEmpty({ pets }: Store): Promise<void> {
  // A list that fails has cases of its own.
  const there = await pets.list({ limit: 1 }).catch(() => []);
  if (there.length > 0) throw new UsageError('--url names a store that is not empty');
}

/** What is said of STORE_URL is said of the option that takes its place. */
async function namingUrl<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(error.faults.map((fault) => fault.replace(/^STORE_URL\b/, '--url')).join('\n'));
  }
}
