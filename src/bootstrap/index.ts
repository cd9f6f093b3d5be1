/**
 * The wiring: to bind adapters of your own, and to run the service from another program.
 *
 * @packageDocumentation
 */
export { createContainer } from './service/container.js';
export { createLogger } from './service/logger.js';
export { startService, type Service } from './service/start-service.js';
export { SettingsError, readSettings, type Settings } from './service/settings.js';
export { openStore } from './service/stores.js';
export { TOKENS, wiring, type Adapter, type Token, type Wiring } from './service/wiring.js';
