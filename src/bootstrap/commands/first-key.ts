import type { Container } from 'inversify';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import type { IssuedApiKey, ManagedApiKeys } from '../../application/manage-api-keys.js';
import { ISSUE_COMMAND, print, type HostProcess } from './command-line.js';
import { TOKENS } from '../service/container.js';
import { isLoopback } from '../service/settings.js';

/**
 * Ensures that there is a key, once the service listens at `url`: a taken port issues none. Without any, issues one, but
 * only if no other machine can reach the service: elsewhere everyone who reads the output would get in. Resolves to
 * whether `keys issue` could issue one more.
 * @throws {Error} there is no key and none is issued; the message says what to do.
 */
export async function ensureKey(
  container: Container,
  url: string,
  io: HostProcess,
  signal: AbortSignal,
): Promise<boolean> {
  // An authenticator of others has credentials of its own.
  if (!((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator)) return false;
  const { staticKeys, host, storeUrl } = container.get(TOKENS.settings);
  const managed = await container.getAsync(TOKENS.managedApiKeys);
  const canIssue = managed !== undefined && storeUrl !== 'memory:';
  if (staticKeys.length > 0 || (await managed?.list({ signal }))?.length) return canIssue;
  if (managed === undefined || !isLoopback(host)) {
    const issuing = canIssue ? `issue one with \`${ISSUE_COMMAND}\` and the same STORE_URL, or ` : '';
    throw new Error(`There is no API key: ${issuing}set API_KEYS.`);
  }
  const issued = await managed.issueFirst('first start', { signal });
  if (issued === undefined) return canIssue;
  await printFirst(io, issued, url, managed);
  const logger = await container.getAsync(TOKENS.logger);
  logger.info({ event: 'api_key_issued', keyId: issued.record.id }, 'issued a first API key');
  return false;
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
