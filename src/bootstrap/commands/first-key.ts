import type { Container } from 'inversify';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { isLoopback } from '../service/host.js';
import type { Service } from '../service/start-service.js';
import { TOKENS } from '../service/tokens.js';
import { UsageError, print, type CommandContext } from './command-context.js';
import { managedKeysOf } from './keys.js';

/**
 * If there is no API key, issues one and prints it. Does so only on a loopback host, and never into systemd's journal,
 * which others can read. Call it once the service listens, so that a taken port issues no key.
 * @throws {UsageError} there is no key and none may be issued; the message says what to do
 */
export async function ensureKey(
  { io, signal }: CommandContext,
  container: Container,
  { url, docsUrl }: Service,
): Promise<void> {
  const { host, staticKeys } = container.get(TOKENS.settings);
  const authenticator = await container.getAsync(TOKENS.authenticator);
  // An authenticator of another kind needs no API keys.
  if (!(authenticator instanceof ApiKeyAuthenticator) || staticKeys.length > 0) return;

  const logger = container.get(TOKENS.logger);
  const managed = managedKeysOf(
    await container.getAsync(TOKENS.store),
    container.get(TOKENS.clock),
  );
  const keys = (await managed?.list({ signal })) ?? [];
  if (keys.some(({ state }) => state === 'active')) return;
  if (keys.length > 0)
    return logger.warn('No API key is valid: all are revoked or expired. Issue one: keys issue.');

  // Desktop sessions set JOURNAL_STREAM in their terminals, too.
  const isInJournal = io.env['JOURNAL_STREAM'] && !io.stdout.isTTY;
  if (managed === undefined || !isLoopback(host) || isInJournal)
    throw new UsageError(
      'There is no API key: issue one with: animal-store keys issue --name NAME ' +
        '(with the same STORE_URL), or set API_KEYS.',
    );
  const issued = await managed.issueFirst('first start', { signal });
  if (issued === undefined) return; // another service has issued it
  await print(
    io,
    `Your API key, shown only this once: ${issued.key}
Paste this line to add an animal:
  curl ${url}/pets -H 'Authorization: Bearer ${issued.key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":7}'
To try it in a browser, open ${docsUrl}. Authorize with this key. Ctrl-C stops the service.
`,
  );
  logger.info({ keyId: issued.details.id }, 'issued a first API key');
}
