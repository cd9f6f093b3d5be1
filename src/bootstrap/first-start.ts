import type { ManagedApiKeys } from '../adapters/api-keys/managed-api-keys.js';
import { isLoopback, type Settings } from './settings.js';

/** The service would have no key that anyone could use. */
export class NoKeyError extends Error {
  override readonly name = 'NoKeyError';
}

/**
 * Sees to it that there is a key. With none of any kind one is issued, but only where just this machine can
 * reach the service: elsewhere whoever reads the log of a first start would get in.
 * @param managed `undefined` where the store keeps no keys
 * @param warn is told when there are keys, and none that is good
 * @returns the new key, or `undefined` if there was one
 * @throws {NoKeyError} there is none and none is made, saying how to make one
 */
export async function firstKey(
  settings: Settings,
  managed: ManagedApiKeys | undefined,
  warn: (message: string) => void = () => {},
): Promise<string | undefined> {
  if (settings.staticKeys.length > 0) return undefined;
  if (managed === undefined)
    throw new NoKeyError('This store keeps no API keys, and none is set: set API_KEYS.');
  const keys = await managed.list();
  if (keys.length > 0 && keys.every(({ state }) => state !== 'active'))
    warn('every API key is expired or revoked');
  if (keys.length > 0) return undefined;
  if (isLoopback(settings.host)) return (await managed.issue({ name: 'first start' })).key;
  throw new NoKeyError(
    settings.storeUrl === 'memory:'
      ? 'There is no API key, and a memory store cannot be given one before it runs: set API_KEYS.'
      : 'There is no API key: issue one with `npm run -s cli -- keys issue --name NAME` (`animal-store keys issue --name NAME` where the package is installed), or set API_KEYS.',
  );
}

/** What is told of a first key: itself, once, and a line to paste. */
export const firstKeyNotice = (
  key: string,
  { url, docsUrl }: { readonly url: string; readonly docsUrl: string },
): string => `\
There was no API key yet, so one was made. It is shown only this once:

  ${key}

Add an animal, and list them:

  curl ${url}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Bella","categoryId":1}'

  curl ${url}/pets -H 'Authorization: Bearer ${key}'

Or try it in a browser: ${docsUrl}

`;
