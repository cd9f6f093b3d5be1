import type { Abortable, Collection, FindOptions } from 'mongodb';
import { INT64_MAX } from '../../domain/int64.js';
import type { PetDocument } from './pet-document.js';

/** The greatest id in the collection, of whatever type it is, rounded up; `after` when none is greater. */
export async function greatestId(
  pets: Collection<PetDocument>,
  after: bigint,
  options: Pick<FindOptions, 'readConcern' | 'maxTimeMS'> & Abortable,
): Promise<bigint> {
  const [top] = await pets
    .find<{ _id: unknown }>(
      { _id: { $gt: after, $lte: INT64_MAX } },
      { projection: { _id: 1 }, sort: { _id: -1 }, limit: 1, ...options },
    )
    .toArray();
  if (typeof top?._id === 'bigint') return top._id;
  return top === undefined ? after : BigInt(Math.ceil(Number(top._id)));
}
