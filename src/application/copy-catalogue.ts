import type { CallOptions } from './animal-store.js';
import { permanentError, type CompleteStore, type Store } from './ports/store.js';

/** How many animals are read and written at once. */
const PAGE_SIZE = 1000;

/**
 * Copies animals, under their ids, and API keys into an empty store, and compares the counts. Stop what writes to
 * either store first. Idempotency keys are not copied.
 * @throws {Error} a store has no `transfer` or no `apiKeys`, or the target is not empty. Nothing was copied.
 * @throws {Error} the copy failed. The message says to throw the target away.
 */
export async function copyCatalogue(
  source: Store,
  target: Store,
  options?: CallOptions,
): Promise<{ readonly pets: number; readonly apiKeys: number }> {
  const from = requireCopyable(source);
  const to = requireCopyable(target);
  if ((await to.transfer.lastId(options)) > 0n || (await to.apiKeys.list(options)).length > 0)
    throw permanentError('The target is not empty: copy into a new store.');
  try {
    const lastId = await from.transfer.lastId(options);
    // Also if the source has no animals left: their ids must not return.
    await to.transfer.writePets([], lastId, options);
    for await (const page of petPages(from, options))
      await to.transfer.writePets(page, lastId, options);
    for (const apiKey of await from.apiKeys.list(options)) await to.apiKeys.add(apiKey, options);

    const wanted = await countOf(from, options);
    const found = await countOf(to, options);
    if (found.pets === wanted.pets && found.apiKeys === wanted.apiKeys) return found;
    throw new Error(
      `It holds ${found.pets} of ${wanted.pets} animals and ${found.apiKeys} of ${wanted.apiKeys} API keys.`,
    );
  } catch (cause) {
    const advice = 'throw the target away, and copy again while nothing writes to the source.';
    throw new Error(`The copy failed: ${advice}`, { cause });
  }
}

function requireCopyable({ pets, transfer, apiKeys }: Store) {
  if (transfer && apiKeys) return { pets, transfer, apiKeys };
  throw permanentError('The store cannot be copied: it has no transfer or no API keys.');
}

async function countOf(
  { pets, apiKeys }: Pick<CompleteStore, 'pets' | 'apiKeys'>,
  options?: CallOptions,
) {
  let count = 0;
  for await (const page of petPages({ pets }, options)) count += page.length;
  return { pets: count, apiKeys: (await apiKeys.list(options)).length };
}

/** Every page of a store, in ascending order of id. */
export async function* petPages({ pets }: Pick<Store, 'pets'>, options?: CallOptions) {
  let after: bigint | undefined;
  for (;;) {
    const page = await pets.list({ after, limit: PAGE_SIZE }, options);
    const last = page.at(-1)?.id;
    if (last === undefined) return;
    yield page;
    after = last;
  }
}
