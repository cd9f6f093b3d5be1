import type { Store } from '../application/ports/store.js';

/*
 * The contract suites are an entry of the package beside the program, made of its tests: they import the
 * program, and the program reaches them when it runs, by the package's own name. What is used of them stands
 * here; a test holds the entry to it.
 */

/** A store to be held to its contracts: fresh and empty. */
export interface StoreSubject extends Omit<Store, 'location' | 'close'> {
  /** Closes it and opens it again. */
  readonly reopen?: (() => Promise<Parts>) | undefined;
  /** One more handle on it. */
  readonly another?: (() => Promise<Parts>) | undefined;
  readonly dispose: () => Promise<void>;
}

type Parts = Omit<Store, 'location' | 'close'>;

interface CaseResult {
  readonly name: string;
  readonly milliseconds: number;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly error?: unknown;
  readonly reason?: string;
  readonly notes: readonly string[];
}

export interface StoreContract {
  readonly port: string;
  readonly cases: ReadonlyArray<{
    readonly name: string;
    readonly run: (...subject: never[]) => Promise<void>;
  }>;
}

interface RunOptions {
  readonly only?: (name: string) => boolean;
  readonly onResult: (result: CaseResult, count: number) => unknown;
  readonly signal: AbortSignal;
  readonly animals: number | undefined;
  readonly timeLimit: number | undefined;
}

export interface ContractSuites {
  readonly storeContracts: readonly StoreContract[];
  runContract(
    contract: StoreContract,
    open: () => Promise<StoreSubject>,
    options: RunOptions,
  ): Promise<readonly CaseResult[]>;
  undeclaredCapabilities(results: readonly CaseResult[]): readonly string[];
}

const ENTRY: string = 'animal-store/contract';

export const loadContractSuites = async (): Promise<ContractSuites> =>
  (await import(ENTRY)) as ContractSuites;
