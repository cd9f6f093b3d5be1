import { ContainerModule } from 'inversify';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

/** Static keys from the settings, managed keys from the store. */
export const apiKeyAuthentication = new ContainerModule((options) => {
  provide(
    options,
    TOKENS.authenticator,
    [TOKENS.settings, TOKENS.apiKeyRepository, TOKENS.clock],
    ({ staticKeys }, apiKeys, clock) => new ApiKeyAuthenticator({ staticKeys, apiKeys, clock }),
  );
});
