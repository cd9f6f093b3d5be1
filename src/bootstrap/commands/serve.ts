import type { Container } from 'inversify';
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import {
  UsageError,
  interruptible,
  type InterruptedError,
  type HostProcess,
} from './command-line.js';
import { printKey } from './keys.js';
import { configure } from '../service/container.js';
import { isUnavailable } from '../service/errors.js';
import { createLogger } from '../service/logger.js';
import { startLine } from '../service/node-version.js';
import { isLoopback, misspelledSettings } from '../service/settings.js';
import { startService, type Service } from '../service/start-service.js';
import { TOKENS, type Adapter } from '../service/wiring.js';

/** Runs the service until SIGINT or SIGTERM. Resolves to the exit code: 0, or 1 if the stop cut something off. */
export async function serve(io: HostProcess, adapters: readonly Adapter[] = []): Promise<number> {
  let warn = (line: string): void => void io.stderr.write(startLine(io.env, 40, line));
  const onWarning = (warning: Error): void => warn(`Node.js: ${String(warning)}`);
  io.removeAllListeners('warning').on('warning', onWarning); // Node.js's own prints text
  const logging: Adapter = ({ replaceFrom }) =>
    replaceFrom(TOKENS.logger, [TOKENS.settings], (read) => createLogger(read, io.stderr));
  const container = await configure(io.env, [logging, ...adapters]);
  const logger = await container.getAsync(TOKENS.logger);
  if (!logger) throw new TypeError('An adapter has unbound the log of the service.');
  warn = (line) => logger.warn(line);
  for (const line of misspelledSettings(io.env)) logger.warn(line);
  const { adminPort, staticKeys } = container.get(TOKENS.settings);
  return interruptible(io, async (signal) => {
    const interrupted = (async () => {
      await once(signal, 'abort');
      logger.info(`stopping on ${(signal.reason as InterruptedError).signal}`);
    })();
    const openAdminPort =
      adminPort === undefined
        ? undefined
        : (await import('../service/metrics.js')).measure(container, adminPort);
    let admin: Awaited<ReturnType<NonNullable<typeof openAdminPort>>> | undefined;
    try {
      const service = await Promise.race([startService(container), interrupted]);
      // A store that never opens would keep the process. No client was served yet.
      if (!service) return io.exit(0);
      const { url, docsUrl: docs } = service;
      const short = staticKeys.filter((key) => key.length < 16).length;
      if (short > 0)
        logger.warn(`static API keys of fewer than 16 characters can be guessed: ${short} set`);
      if (!(await container.getAsync(TOKENS.petRepository)).addOnce)
        logger.warn('the store keeps no idempotency keys: requests with one get 400');
      const open = async () => {
        admin = await openAdminPort?.();
        await ensureKey(container, service, io, signal);
      };
      await open().catch(async (error: unknown) => {
        if (signal.aborted) return;
        // Not ready until the store is back; until then nobody gets in.
        if (isUnavailable(error)) return logger.warn('the store is away: its API keys are unknown');
        await service.stop(0);
        throw error;
      });
      if (!signal.aborted) {
        const { location: store } = await container.getAsync(TOKENS.store);
        const ready = [`ready at ${url}`, `docs at ${docs}`, `animals in ${store}`];
        if (admin) ready.push(`metrics at ${admin.url}`);
        const readiness = await container.getAsync(TOKENS.readiness);
        const at = { url, docs, metrics: admin?.url, store };
        await readiness.check().then(
          () => logger.info(at, ready.join(', ')),
          () => logger.warn(at, `not yet ${ready.join(', ')}`),
        );
      }
      await interrupted;
      const inTime = await service.stop();
      logger.info(inTime ? 'stopped' : 'stopped; some requests were cut off');
      return inTime ? 0 : 1;
    } finally {
      await admin?.stop();
    }
  });
}

/**
 * Ensures that there is a key, once the service listens: a taken port issues none. Without any, issues one, but
 * only if no other machine can reach the service, and never into the journal of systemd: elsewhere everyone who reads the
 * output would get in.
 * @throws {UsageError} there is no key and none is issued; the message says what to do.
 */
async function ensureKey(container: Container, at: Service, io: HostProcess, signal: AbortSignal) {
  // An authenticator of others has credentials of its own.
  if (!((await container.getAsync(TOKENS.authenticator)) instanceof ApiKeyAuthenticator)) return;
  const { staticKeys, host, storeUrl } = container.get(TOKENS.settings);
  const managed = await container.getAsync(TOKENS.managedApiKeys);
  if (staticKeys.length > 0 || (await managed?.list({ signal }))?.length) return;
  const inJournal = isJournal(io) ? ', and a first one would stay in the journal' : '';
  if (managed === undefined || !isLoopback(host) || inJournal) {
    const canIssue = managed !== undefined && storeUrl !== 'memory:';
    const issuing = canIssue
      ? 'issue one with the command keys issue and the same STORE_URL, or '
      : '';
    throw new UsageError(`There is no API key${inJournal}: ${issuing}set API_KEYS.`);
  }
  const issued = await managed.issueFirst('first start', { signal });
  if (issued === undefined) return; // another service has issued it
  await printKey(io, firstKeyNotice(issued.key, at), issued.record.id, managed);
  const logger = await container.getAsync(TOKENS.logger);
  logger?.info({ event: 'api_key_issued', keyId: issued.record.id }, 'issued a first API key');
}

/** Whether standard output goes to the journal of systemd, which names it by device and inode. */
function isJournal({ env, stdout }: HostProcess): boolean {
  if (!env['JOURNAL_STREAM'] || !('fd' in stdout)) return false;
  const { dev, ino } = fstatSync(stdout.fd);
  return env['JOURNAL_STREAM'] === `${dev}:${ino}`;
}

/** What a first start prints: the key, once, and what to do next, with a command that works when pasted. */
const firstKeyNotice = (key: string, { url, docsUrl }: Service): string => `\
Your API key, shown only this once: ${key}
Paste this line to add an animal:
  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":7}'
To see it, open ${docsUrl} with this key. Ctrl-C stops the service.
`;
