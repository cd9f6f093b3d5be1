import type { Container } from 'inversify';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import type { HostProcess } from './command-line.js';
import { printKey } from './keys.js';
import { TOKENS } from '../service/container.js';
import { isLoopback } from '../service/settings.js';

/**
 * Ensures that there is a key, once the service listens at `url`: a taken port issues none. Without any, issues one, but
 * only if no other machine can reach the service: elsewhere everyone who reads the output would get in.
 * @throws {Error} there is no key and none is issued; the message says what to do.
 */
export async function ensureKey(
  container: Container,
  url: string,
  io: HostProcess,
  signal: AbortSignal,
): Promise<void> {
  // An authenticator of others has credentials of its own.
  if (!((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator)) return;
  const { staticKeys, host, storeUrl } = container.get(TOKENS.settings);
  const managed = await container.getAsync(TOKENS.managedApiKeys);
  if (staticKeys.length > 0 || (await managed?.list({ signal }))?.length) return;
  if (managed === undefined || !isLoopback(host)) {
    const canIssue = managed !== undefined && storeUrl !== 'memory:';
    const issuing = canIssue ? 'issue one with the command keys issue and the same STORE_URL, or ' : '';
    throw new Error(`There is no API key: ${issuing}set API_KEYS.`);
  }
  const issued = await managed.issueFirst('first start', { signal });
  if (issued === undefined) return; // another service has issued it
  await printKey(io, firstKeyNotice(issued.key, url), issued.record.id, managed);
  const logger = await container.getAsync(TOKENS.logger);
  logger.info({ event: 'api_key_issued', keyId: issued.record.id }, 'issued a first API key');
}

/** What a first start prints: the key, once, and a command that works when pasted. */
const firstKeyNotice = (key: string, url: string): string => `\
There was no API key, so the service issued one. It is shown only this once:

  ${key}

Add an animal:

  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'

`;
