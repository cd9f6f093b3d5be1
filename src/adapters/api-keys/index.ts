/**
 * Authentication by API keys, static and managed. Managed keys can be issued, listed, revoked and rotated.
 *
 * @packageDocumentation
 */
export type { ApiKeyState } from './api-key.js';
export { ApiKeyAuthenticator, type ApiKeyAuthenticatorOptions } from './api-key-authenticator.js';
export {
  ApiKeyError,
  ManagedApiKeys,
  type ApiKeyRequest,
  type IssuedApiKey,
  type ManagedApiKey,
  type ManagedApiKeysOptions,
  type RotatedApiKey,
} from './managed-api-keys.js';
