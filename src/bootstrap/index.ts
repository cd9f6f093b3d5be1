/**
 * Wires the service: bind adapters of your own, or run it from another program.
 *
 * @packageDocumentation
 */
export { ContainerModule } from 'inversify';
export { createContainer, openStore } from './service/container.js';
export { createLogger } from './service/logger.js';
export { SettingsError, readSettings, type Settings } from './service/settings.js';
export { startService, type Service } from './service/start-service.js';
export { TOKENS, type Token } from './service/tokens.js';
