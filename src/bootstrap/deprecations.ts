import { staticKeyId } from '../adapters/api-keys/static-api-keys.js';
import type { ReportedCalls } from '../adapters/cli/operations.js';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.js';
import type { DeprecatedCallQuery } from '../application/ports/deprecated-call-repository.js';
import { createContainer } from './container.js';
import { loadAdapters } from './load-adapters.js';
import { openingStore } from './modules/store-opening.js';
import { readSettings, type Environment, type Settings } from './settings.js';
import { TOKENS } from './tokens.js';

/** Who called deprecated operations, by what the store has counted. */
export async function deprecatedCalls(
  query: DeprecatedCallQuery,
  environment: Environment,
): Promise<readonly ReportedCalls[]> {
  const settings = readSettings(environment);
  if (settings.storeUrl === 'memory:') {
    throw new Error(
      'A memory store is inside the service that runs it: its counts cannot be reached from here. See the log of the service.',
    );
  }
  const adapters = await loadAdapters(settings.adapters);
  // A report must not make the store that it is to be about.
  const container = await createContainer(settings, [openingStore({ mustExist: true }), ...adapters]);
  const store = await container.getAsync(TOKENS.store);
  try {
    const repository = await container.getAsync(TOKENS.deprecatedCallRepository);
    if (repository === undefined) {
      throw new Error('This store keeps no counts of deprecated calls. See the log of the service.');
    }
    const counts = await repository.list(query);
    if (counts.length === 0) return [];
    const names = await keyNames(settings, await container.getAsync(TOKENS.apiKeyRepository));
    return counts.map(({ day, operationId, keyId, calls, lastAt }) => ({
      day,
      operationId,
      keyId,
      keyName: names(keyId),
      calls,
      lastAt,
    }));
  } finally {
    await store.close();
  }
}

/** What keys are called: managed ones by their owner; static ones, which have no name, by their place in the settings. */
async function keyNames(
  { staticKeys }: Settings,
  managed: ApiKeyRepository | undefined,
): Promise<(keyId: string) => string | undefined> {
  const names = new Map<string, string>();
  for (const { id, name } of (await managed?.list()) ?? []) names.set(id, name);
  for (const [index, key] of staticKeys.entries()) names.set(staticKeyId(key), `static key ${index + 1}`);
  return (keyId) => names.get(keyId) ?? (/^static-[0-9a-f]{12}$/.test(keyId) ? 'static key' : undefined);
}
