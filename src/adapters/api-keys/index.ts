/**
 * Authentication by static and managed API keys, and `ManagedApiKeys`, which issues, lists and revokes managed keys.
 *
 * @packageDocumentation
 */
export {
  ManagedApiKeys,
  type ApiKeyRequest,
  type IssuedApiKey,
  type ManagedApiKey,
  type ManagedApiKeysOptions,
} from '../../application/manage-api-keys.js';
export { generateApiKey } from './api-key.js';
export { ApiKeyAuthenticator, type ApiKeyAuthenticatorOptions } from './api-key-authenticator.js';
