import type { Container } from 'inversify';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { readApiKeyId } from '../../adapters/api-keys/api-key.js';
import type { ManagedApiKeys } from '../../application/manage-api-keys.js';
import { ISSUE_COMMAND, type InterruptedError, type Io } from './command-line.js';
import { TOKENS } from '../service/container.js';
import { isUnavailable } from '../service/logger.js';
import type { Service } from '../service/start-service.js';
import { isLoopback, type Settings } from '../service/settings.js';

/** What the ready line says. */
export interface Ready {
  readonly url: string;
  readonly docs: string;
  readonly store: string;
  readonly hint: string;
}

/**
 * Prints a first key, once the service listens: a taken port issues no key. Resolves to what the ready line says. Stops
 * the service if there is no key.
 */
export async function prepare(container: Container, service: Service, { stdout }: Io): Promise<Ready> {
  const { url, docsUrl: docs } = service;
  const settings = container.get(TOKENS.settings);
  const logger = await container.getAsync(TOKENS.logger);
  const { location: store } = await container.getAsync(TOKENS.store);
  const short = settings.staticKeys.filter((key) => key.length < 16).length;
  if (short > 0) logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);
  let hint = '';
  try {
    // An authenticator of others has credentials of its own.
    if ((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator) {
      const managed = await container.getAsync(TOKENS.managedApiKeys);
      const key = await firstKey(settings, managed, (message) => logger.warn(message));
      if (key !== undefined) {
        logger.info({ event: 'api_key_issued', keyId: readApiKeyId(key) }, 'issued a first API key');
        stdout.write(firstKeyNotice(key, url));
      } else if (managed && settings.storeUrl !== 'memory:') hint = `, new API key: ${ISSUE_COMMAND}`;
    }
  } catch (error) {
    if (!isUnavailable(error)) {
      await service.stop(0);
      throw error;
    }
    // Not ready until the store is back; until then nobody gets in.
    logger.warn('the store is away: its API keys are unknown');
  }
  return { url, docs, store, hint };
}

/** Logs that the service is ready. */
export function logReady(logger: Logger, { url, docs, store, hint }: Ready, metrics?: string): void {
  const ready = `ready at ${url}, docs at ${docs}, animals in ${store}${metrics === undefined ? '' : `, metrics at ${metrics}`}${hint}`;
  logger.info({ url, docs, metrics, store }, ready);
}

/** Resolves when a signal interrupts the service, after it has logged which. */
export async function interruption(signal: AbortSignal, logger: Logger): Promise<undefined> {
  await once(signal, 'abort');
  logger.info(`stopping on ${(signal.reason as InterruptedError).signal}`);
}

/** Logs the end of a stop. Returns the exit code. */
export function logStopped(logger: Logger, inTime: boolean): number {
  logger.info(inTime ? 'stopped' : 'stopped; some requests were cut off');
  return inTime ? 0 : 1;
}

/**
 * Ensures that there is a key. Without any it issues one, but only if no other machine can reach the service:
 * elsewhere everyone who reads the output would get in. Resolves to the new key.
 * @param managed `undefined` if the store keeps no keys
 * @throws {Error} there is no key and none is issued; the message says what to do.
 */
async function firstKey(
  { staticKeys, host, storeUrl }: Settings,
  managed: ManagedApiKeys | undefined,
  warn: (message: string) => void,
): Promise<string | undefined> {
  if (staticKeys.length > 0) return undefined;
  const keys = (await managed?.list()) ?? [];
  if (keys.length > 0 && keys.every(({ state }) => state !== 'active'))
    warn('every API key is expired or revoked');
  if (keys.length > 0) return undefined;
  if (managed && isLoopback(host)) return (await managed.issue({ name: 'first start' })).key;
  const issuing =
    managed && storeUrl !== 'memory:'
      ? `issue one with \`${ISSUE_COMMAND}\` and the same STORE_URL, or `
      : '';
  throw new Error(`There is no API key: ${issuing}set API_KEYS.`);
}

/** What a first start prints: the key, once, and commands that work when pasted. */
const firstKeyNotice = (key: string, url: string): string => `\
There was no API key, so the service issued one. It is shown only this once:

  ${key}

Add an animal, and list all:

  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'

  curl ${url}/pets -H 'Authorization: Bearer ${key}'

`;
