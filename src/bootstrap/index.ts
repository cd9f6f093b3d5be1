/** The wiring: to bind adapters of one's own, and to run the service from another program. */
export { createContainer } from './container.js';
export { every, provide, provideValue } from './provide.js';
export { startService, type Service } from './service.js';
export { SettingsError, readSettings, type Environment, type Settings } from './settings.js';
export type { OpenOptions, OpenStore, StoreFactory } from './store-factory.js';
export { TOKENS, token, type Token } from './tokens.js';
