import type { CallOptions } from './call-options.js';
import { petPages } from './pet-pages.js';
import type { CompleteStore, Store } from './ports/store.js';
import { permanentError } from './store-rules.js';

/**
 * Copies animals, under their ids, and API keys into an empty store, and compares the counts, read anew: they
 * differ if a program wrote to the source meanwhile. First stop every program that writes to either store. Idempotency
 * keys are not copied.
 * @throws {Error} a store has no `transfer` or no `apiKeys`, or the target is not empty. Nothing was copied.
 * @throws {Error} the copy failed or was aborted, as its `cause` says. The message says to throw the target away.
 */
export async function copyCatalogue(
  from: Store,
  to: Store,
  options?: CallOptions,
): Promise<{ readonly pets: number; readonly apiKeys: number }> {
  const source = requireCopyable(from);
  const target = requireCopyable(to);
  const everHadPets = (await target.transfer.lastId(options)) > 0n;
  const hasApiKeys = (await target.apiKeys.list(options)).length > 0;
  if (everHadPets || hasApiKeys)
    throw permanentError('The target is not empty: copy into a new store.');
  try {
    return await copyAll(source, target, options);
  } catch (cause) {
    const advice = 'throw the target away, and copy again while nothing writes to the source.';
    throw new Error(`The copy failed: ${advice}`, { cause });
  }
}

async function copyAll(source: Copyable, target: Copyable, options: CallOptions | undefined) {
  const lastId = await source.transfer.lastId(options);
  // Raises the last id even if no animal is left: the id of a removed animal must not return.
  await target.transfer.writePets([], lastId, options);
  for await (const page of petPages(source.pets, options))
    await target.transfer.writePets(page, lastId, options);
  for (const apiKey of await source.apiKeys.list(options))
    await target.apiKeys.add(apiKey, options);

  const expected = await countsOf(source, options);
  const copied = await countsOf(target, options);
  if (copied.pets === expected.pets && copied.apiKeys === expected.apiKeys) return copied;
  throw new Error(
    `The target holds ${copied.pets} of ${expected.pets} animals and ${copied.apiKeys} of ${expected.apiKeys} API keys.`,
  );
}

type Copyable = Pick<CompleteStore, 'pets' | 'transfer' | 'apiKeys'>;

function requireCopyable({ pets, transfer, apiKeys }: Store): Copyable {
  if (transfer && apiKeys) return { pets, transfer, apiKeys };
  throw permanentError('The store cannot be copied: it has no transfer or no API keys.');
}

async function countsOf({ pets, apiKeys }: Copyable, options: CallOptions | undefined) {
  let count = 0;
  for await (const page of petPages(pets, options)) count += page.length;
  return { pets: count, apiKeys: (await apiKeys.list(options)).length };
}
