/**
 * The wiring: to bind adapters of one's own, and to run the service from another program.
 *
 * @packageDocumentation
 */
export { createContainer } from './container.js';
export { every, provide, provideValue, type Bind, type TokensOf } from './provide.js';
export { startService, type Service } from './service.js';
export { SettingsError, readSettings, type Environment, type LogLevel, type Settings } from './settings.js';
export type { OpenOptions, Store, StoreFactory } from '../application/ports/store.js';
export { TOKENS, token, type Token } from './tokens.js';
