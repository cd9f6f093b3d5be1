/**
 * Authentication by API keys, static and managed, and `ManagedApiKeys` to issue, list and revoke them.
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
