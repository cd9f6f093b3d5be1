import type { CallOptions } from '../../src/application/animal-store.js';
import assert from 'node:assert/strict';
import {
  casesOf,
  each,
  missingIn,
  type Clauses,
  type ContractCase,
  type OptionalPart,
} from './contract.js';
import { rejectsWhenAborted } from './rejection.js';
import { instant, sampleApiKey, samplePet } from './samples.js';
import {
  addClaimed,
  PARTS,
  listAll,
  noStore,
  type CompleteSubject,
  type PortRun,
  type StoreRun,
  type StoreSubject,
} from './store-subject.js';

/** Calls of a port's operations, by name. `id` is that of a stored animal. */
export type Operations<Name extends string = string> = Readonly<
  Record<Name, (subject: CompleteSubject, id: bigint, call?: CallOptions) => Promise<unknown>>
>;

/** Stores an animal with a claim, an API key and a reservation of ids; resolves to the animal's id. */
export async function storeOneOfEach({ pets, apiKeys, transfer }: StoreSubject): Promise<bigint> {
  const { id } = await addClaimed(pets, samplePet());
  await apiKeys?.add(sampleApiKey());
  await transfer?.reserveIds(id + 99n);
  return id;
}

/** All that a store shows of what it holds. */
const contentsOf = async ({
  pets,
  apiKeys,
  transfer,
}: StoreSubject): Promise<readonly unknown[]> => [
  await listAll(pets),
  await apiKeys?.list(),
  await transfer?.survey(),
  await transfer?.isUnfinished(),
  await transfer?.readClaims({ limit: 1000, now: instant(0) }),
];

/** The clauses of each operation about a caller whose signal is aborted. */
export const operationClauses = (operations: Operations): Clauses<PortRun> =>
  each(operations, (operation, call) => [
    `rejects with the reason of an aborted signal, even if it knows the result, and changes nothing: ${operation}`,
    async (subject: CompleteSubject) => {
      const id = await storeOneOfEach(subject);
      for (const turn of ['before', 'after']) {
        const contents = await contentsOf(subject);
        await rejectsWhenAborted((aborted) => call(subject, id, aborted));
        assert.deepEqual(
          await contentsOf(subject),
          contents,
          `${turn} the same call without a signal`,
        );
        await call(subject, id);
      }
    },
  ]);

type OptionalPort = 'apiKeys' | 'transfer' | 'changes';

/** Returns what a subject lacks: of every store, or of this port if it has it. */
export const lacksOf =
  (port: OptionalPort, operations: Operations) =>
  (subject: StoreSubject): string | undefined => {
    const paths = Object.keys(operations).map((name) => `${port}.${name}`);
    // A copy has the claims: its target must keep them.
    if (port === 'transfer') paths.push('pets.addOnce');
    return noStore(subject) ?? (subject[port] && missingIn(subject, ...paths));
  };

/** The cases of a port that a store may lack. */
export const portCases = (
  port: OptionalPort,
  operations: Operations,
  cases: ReadonlyArray<{
    readonly name: string;
    readonly needs: ReadonlyArray<OptionalPart<StoreSubject>>;
    readonly run: PortRun;
  }>,
): ReadonlyArray<ContractCase<StoreSubject>> =>
  [...cases, ...casesOf(operationClauses(operations))].map(({ name, needs, run }) => ({
    name,
    needs: [PARTS[port], ...needs],
    run: run as StoreRun,
  }));
