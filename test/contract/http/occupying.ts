import { within } from '../run-contract.js';

/** In milliseconds: well below the limit of a case, so that it is this that one reads. */
const PATIENCE = 10_000;

const WHAT = 'the request that is to occupy the service';

/**
 * Waits until a request is being worked on by the store, which never answers it.
 * @param used resolves when the store is used
 * @param ended resolves to what came of the request, should it end: a transport that failed before the store
 * @throws {Error} it ended, or the store was not used in time
 */
export async function occupied(
  used: Promise<void> | undefined,
  ended: Promise<string>,
  patience = PATIENCE,
): Promise<void> {
  if (used === undefined) throw new TypeError('The situation busy needs `used` of the running service');
  const early = ended.then((what) => {
    throw new Error(`${WHAT} ${what}, and the store was not used`);
  });
  await within(patience, `${WHAT} did not come to the store`, Promise.race([used, early]));
}
