/**
 * Authentication by API keys, static and managed, and the use case that manages keys.
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
export { apiKeyGenerator } from './api-key.js';
export { ApiKeyAuthenticator, type ApiKeyAuthenticatorOptions } from './api-key-authenticator.js';
