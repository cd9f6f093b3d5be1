import type { CompleteStore, Store } from '../../src/application/ports/store.js';
import type { Opened, PortName } from './store-suite.js';
import { casesOf, requireMember, type Cases, type SuiteOptions } from './suite.js';

/** What a case gets. The types have every port: a case that needs a missing one does not run. */
export interface StoreSubject extends Pick<CompleteStore, PortName> {
  readonly store: CompleteStore;
  /** Closes the store, then opens the same data. The same store if `without` names `reopen`. */
  readonly reopen: () => Promise<CompleteStore>;
  /** Opens the same data a second time. The same store if `without` names `another`. */
  readonly another: () => Promise<CompleteStore>;
  readonly close: () => Promise<void>;
}

/**
 * The cases of a suite on a store. `alone` is a port that `open` may resolve to in its place. Each gets an empty store:
 *
 *     const test = storeCases(suite)('pets', 'changes'); // the ports that its cases need
 *     test('removes an animal', async ({ pets, changes, reopen }) => ...);
 */
export const storeCases = (
  suite: SuiteOptions<Opened<object>>,
  alone?: PortName,
): Cases<StoreSubject> => casesOf({ ...suite, open: () => openSubject(suite, alone) });

async function openSubject(
  { open, without = [] }: SuiteOptions<Opened<object>>,
  alone: PortName | undefined,
): Promise<StoreSubject> {
  const opened = await open();
  const store = storeOf(opened, alone);
  const handles: Partial<Store>[] = [];
  const opener = (name: 'reopen' | 'another') => async () => {
    if (opened[name] === undefined && without.includes(name)) return store;
    requireMember(opened[name], name);
    const handle = await opened[name]();
    handles.push(handle);
    return storeOf(handle, alone);
  };
  const { pets, changes, apiKeys, transfer } = store;
  return {
    store,
    pets,
    changes,
    apiKeys,
    transfer,
    reopen: opener('reopen'),
    another: opener('another'),
    async close() {
      try {
        for (const handle of handles) await handle.close?.();
      } finally {
        await opened.close();
      }
    },
  };
}

/** The store; or one whose only port is `opened`, if `opened` is not a store. */
function storeOf(opened: object, alone: PortName | undefined): CompleteStore {
  const { store = opened } = opened as { readonly store?: object };
  const isPort = alone !== undefined && !(alone in store);
  return (isPort ? { [alone]: store } : store) as CompleteStore;
}
