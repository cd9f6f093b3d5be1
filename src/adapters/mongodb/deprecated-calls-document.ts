import type { DeprecatedCalls } from '../../application/ports/deprecated-call-repository.js';
import { toInt64 } from '../../domain/int64.js';

/** Counts as they are written. What is read may have been written by another program, in any types. */
export interface DeprecatedCallsDocument {
  /** Day, operation and key. */
  readonly _id: string;
  readonly calls: bigint;
  readonly lastAt: Date;
  /** The batches that were added last, by their ids. */
  readonly batches: readonly string[];
}

export type FoundDeprecatedCalls = {
  readonly [Field in Exclude<keyof DeprecatedCallsDocument, 'batches'>]?: unknown;
};

/**
 * JSON text: no two triples have the same, and lone surrogates stay apart. The day stands first, so that the ids
 * since a day are one stretch of the index.
 */
export const countsId = ({
  day,
  operationId,
  keyId,
}: Pick<DeprecatedCalls, 'day' | 'operationId' | 'keyId'>): string =>
  JSON.stringify([day, operationId, keyId]);

/** What all ids of `day` and later are not less than. */
export const firstIdOf = (day: string): string => JSON.stringify([day]).slice(0, -2);

/** The counts in a document; `undefined` when it holds none. */
export function toCounts({ _id, calls: found, lastAt }: FoundDeprecatedCalls): DeprecatedCalls | undefined {
  const triple = readTriple(_id);
  const calls = Number(toInt64(found));
  if (triple === undefined || !Number.isSafeInteger(calls) || calls < 1) return undefined;
  if (!(lastAt instanceof Date) || Number.isNaN(lastAt.getTime())) return undefined;
  const [day, operationId, keyId] = triple;
  return { day, operationId, keyId, calls, lastAt };
}

function readTriple(id: unknown): readonly [day: string, operationId: string, keyId: string] | undefined {
  try {
    const triple: unknown = typeof id === 'string' ? JSON.parse(id) : undefined;
    if (!Array.isArray(triple) || !triple.every((part) => typeof part === 'string')) return undefined;
    const [day = '', operationId = '', keyId = ''] = triple;
    // Only the text that is written: another one for the same triple would be counted beside it.
    return countsId({ day, operationId, keyId }) === id ? [day, operationId, keyId] : undefined;
  } catch {
    return undefined;
  }
}
