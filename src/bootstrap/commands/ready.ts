import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import type { IssuedApiKey, ManagedApiKeys } from '../../application/manage-api-keys.js';
import { ISSUE_COMMAND, print, type HostProcess } from './command-line.js';
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
 * Ensures that there is a key, once the service listens: a taken port issues none. Resolves to what the ready line says,
 * or to `undefined` if a signal stops the service meanwhile. Stops the service if there is no key.
 */
export async function ensureKey(
  container: Container,
  service: Service,
  io: HostProcess,
  signal: AbortSignal,
): Promise<Ready | undefined> {
  const { url, docsUrl: docs } = service;
  const settings = container.get(TOKENS.settings);
  const logger = await container.getAsync(TOKENS.logger);
  const { location: store } = await container.getAsync(TOKENS.store);
  const short = settings.staticKeys.filter((key) => key.length < 16).length;
  if (short > 0) logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);
  if (settings.adapters.length > 0 && settings.experimental.length === 0) {
    const changes = await container.getAsync(TOKENS.petChanges);
    if (changes)
      logger.info('the store can change and remove animals: EXPERIMENTAL=changeStatus,removePet serves it');
  }
  let hint = '';
  try {
    // An authenticator of others has credentials of its own.
    if ((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator) {
      const managed = await container.getAsync(TOKENS.managedApiKeys);
      const issued = await firstKey(settings, managed, logger, signal);
      if (managed && issued) {
        logger.info({ event: 'api_key_issued', keyId: issued.record.id }, 'issued a first API key');
        await printFirst(io, issued, url, managed);
      } else if (managed && settings.storeUrl !== 'memory:') hint = `, new API key: ${ISSUE_COMMAND}`;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!isUnavailable(error)) {
      await service.stop(0);
      throw error;
    }
    // Not ready until the store is back; until then nobody gets in.
    logger.warn('the store is away: its API keys are unknown');
  }
  return signal.aborted ? undefined : { url, docs, store, hint };
}

/** Logs that the service is ready. */
export function logReady(logger: Logger, { url, docs, store, hint }: Ready, metrics?: string): void {
  const ready = `ready at ${url}, docs at ${docs}, animals in ${store}${metrics === undefined ? '' : `, metrics at ${metrics}`}${hint}`;
  logger.info({ url, docs, metrics, store }, ready);
}

/**
 * Without any key, issues one, but only if no other machine can reach the service: elsewhere everyone who reads the
 * output would get in.
 * @param managed `undefined` if the store keeps no keys
 * @throws {Error} there is no key and none is issued; the message says what to do.
 */
async function firstKey(
  { staticKeys, host, storeUrl }: Settings,
  managed: ManagedApiKeys | undefined,
  logger: Logger,
  signal: AbortSignal,
): Promise<IssuedApiKey | undefined> {
  if (staticKeys.length > 0) return undefined;
  const keys = (await managed?.list({ signal })) ?? [];
  if (keys.length > 0 && keys.every(({ state }) => state !== 'active'))
    logger.warn('every API key is expired or revoked');
  if (keys.length > 0) return undefined;
  if (managed && isLoopback(host)) return managed.issueFirst('first start', { signal });
  const issuing =
    managed && storeUrl !== 'memory:'
      ? `issue one with \`${ISSUE_COMMAND}\` and the same STORE_URL, or `
      : '';
  throw new Error(`There is no API key: ${issuing}set API_KEYS.`);
}

/** Prints a first key. One that nobody has seen is revoked. */
async function printFirst(
  io: HostProcess,
  { key, record }: IssuedApiKey,
  url: string,
  managed: ManagedApiKeys,
): Promise<void> {
  try {
    await print(io.stdout, firstKeyNotice(key, url));
  } catch (cause) {
    await managed.revoke(record.id);
    const message = `The first API key was revoked, because nobody has seen it. Issue one: ${ISSUE_COMMAND}.`;
    throw new Error(message, { cause });
  }
}

/** What a first start prints: the key, once, and commands that work when pasted. */
const firstKeyNotice = (key: string, url: string): string => `\
There was no API key, so the service issued one. It is shown only this once:

  ${key}

Add an animal, and list all:

  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'

  curl ${url}/pets -H 'Authorization: Bearer ${key}'

`;
