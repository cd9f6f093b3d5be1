import { ContainerModule } from 'inversify';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { CompleteStore, OpenOptions, Store } from '../../src/application/ports/store.js';
import { TOKENS } from '../../src/bootstrap/index.js';
import { runLine } from './fake-process.js';

/** A store at `stuck:` that never opens. */
export const STUCK = new ContainerModule(({ bind }) => {
  bind(TOKENS.storeFactory).toConstantValue({ scheme: 'stuck', open: () => new Promise(() => {}) });
});

/** A store at `shelf:` that outlives its handles, and notes how it was opened and how often it was closed. */
export class Shelf {
  readonly data: CompleteStore = openMemoryStore();
  readonly modes: Array<OpenOptions['mode']> = [];
  closed = 0;
  readonly module: ContainerModule;

  /** @param changes parts that differ from those of a store in memory */
  constructor(changes: Partial<Store> = {}, scheme = 'shelf') {
    const open = async (_url: string, options?: OpenOptions): Promise<Store> => {
      this.modes.push(options?.mode);
      const close = async (): Promise<void> => {
        this.closed += 1;
      };
      return { ...this.data, location: `${scheme} 1`, ...changes, close };
    };
    this.module = new ContainerModule(({ bind }) => {
      bind(TOKENS.storeFactory).toConstantValue({ scheme, open });
    });
  }

  /** Runs a command line on this store. */
  run(line: string, input?: string) {
    return runLine(line, { STORE_URL: 'shelf:1' }, { modules: [this.module], input });
  }
}
