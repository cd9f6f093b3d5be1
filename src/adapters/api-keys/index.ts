/**
 * Authentication by API keys: static and managed ones; issuing, rotating and revoking the latter.
 *
 * @packageDocumentation
 */
export { ApiKeyAuthenticator, type ApiKeyAuthenticatorOptions } from './api-key-authenticator.js';
export { ApiKeyError, type ApiKeyErrorCode } from './api-key-error.js';
export type { ApiKeyState } from './api-key-state.js';
export {
  ManagedApiKeys,
  type ApiKeyRequest,
  type IssuedApiKey,
  type ManagedApiKey,
  type ManagedApiKeysOptions,
  type RotatedApiKey,
} from './managed-api-keys.js';
