import type { Store } from '../../src/application/ports/store.js';
import type { SuiteOptions } from './suite.js';

export type PortName = 'pets' | 'changes' | 'apiKeys' | 'transfer';

/**
 * What `storeTests` gets. A durable store needs `{ store, close }`: with `{ ...store, close }`, the cases that close
 * the store would also remove its data.
 */
export type StoreSuite = SuiteOptions<Opened<Pick<Store, PortName | 'check' | 'close'>>>;

/** What the suite of a port gets: the ports of a store, or for some suites the port itself. */
export type PortSuite<Port = never> = SuiteOptions<Opened<Partial<Pick<Store, PortName>> | Port>>;

/** What `open` resolves to, for a store or a port: `{ store: tested, close }` or `{ ...tested, close }`. */
export type Opened<Tested> = (Tested | { readonly store: Tested }) & StoreControls<Tested>;

/** How a case reopens, shares and closes what is tested. */
export interface StoreControls<Tested> {
  /** Closes the store, then opens the same data. Durable stores only. */
  readonly reopen?: OpenHandle<Tested> | undefined;
  /** Opens the same data a second time, as another process does. */
  readonly another?: OpenHandle<Tested> | undefined;
  /** Closes the store, and removes its data. The suite closes the handles of `reopen` and `another` first. */
  readonly close: () => Promise<void>;
}

type OpenHandle<Tested> = () => Promise<Tested & Partial<Pick<Store, 'close'>>>;
