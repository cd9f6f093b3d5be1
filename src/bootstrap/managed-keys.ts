import type { Container } from 'inversify';
import { ManagedApiKeys } from '../adapters/api-keys/managed-api-keys.js';
import { TOKENS } from './tokens.js';

/** What is done with the keys of the store; `undefined` where it keeps none. */
export async function managedKeys(container: Container): Promise<ManagedApiKeys | undefined> {
  const apiKeys = await container.getAsync(TOKENS.apiKeyRepository);
  const clock = container.get(TOKENS.clock);
  const { keyEnvironment } = container.get(TOKENS.settings);
  return apiKeys && new ManagedApiKeys({ apiKeys, clock, environment: keyEnvironment });
}
