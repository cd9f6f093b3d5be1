/**
 * The wiring: to bind adapters of your own, and to run the service from another program.
 *
 * @packageDocumentation
 */
export { TOKENS, createContainer } from './container.js';
export { startService, type Service } from './service.js';
export { SettingsError, readSettings, type Environment, type Settings } from './settings.js';
export * from './wiring.js';
