import { MongoClient, type MongoClientOptions } from 'mongodb';
import { ConnectionString } from 'mongodb-connection-string-url';
import { readFile } from 'node:fs/promises';
import { memberLookup } from './name-lookup.js';

/**
 * Used where the URL does not say otherwise. In milliseconds, short enough to answer a request in time. A connection that
 * was idle for longer than `maxIdleTimeMS` is not used again: a network on the way may have forgotten it.
 */
const DEFAULTS = {
  appName: 'animal-store',
  connectTimeoutMS: 1000,
  heartbeatFrequencyMS: 2000,
  maxIdleTimeMS: 30_000,
  maxPoolSize: 50,
  serverSelectionTimeoutMS: 1500,
  waitQueueTimeoutMS: 1500,
} as const satisfies MongoClientOptions;

/**
 * Used whatever the URL says. Streaming, the driver's other way to monitor servers, can end the process during an
 * election: with `useBigInt64` it cannot send back the version of the topology that an error of the server brought.
 */
const FIXED = {
  ignoreUndefined: true,
  promoteLongs: true,
  promoteValues: true,
  raw: false,
  serverMonitoringMode: 'poll',
  useBigInt64: true,
} as const satisfies MongoClientOptions;

/** Options of the URL that say where to read: the store reads from the primary. */
const IGNORED = ['readPreference', 'readPreferenceTags', 'maxStalenessSeconds'];

/** A client that connects when it is first used, and the name of the database. */
export function readUrl(url: string): { readonly client: MongoClient; readonly database: string } {
  const parsed = new ConnectionString(url);
  const { searchParams } = parsed;
  for (const name of IGNORED) searchParams.delete(name);
  const minPoolSize = Number(searchParams.get('minPoolSize')) || 0;
  const defaults = {
    ...DEFAULTS,
    maxPoolSize: Math.max(DEFAULTS.maxPoolSize, minPoolSize),
  };
  for (const [name, value] of Object.entries(defaults)) {
    if (!searchParams.has(name)) searchParams.set(name, String(value));
  }
  const client = new MongoClient(parsed.href, {
    ...FIXED,
    lookup: memberLookup(),
  });
  // From the text: `pathname` of the parsed URL is normalised, `a/../b` to `b`.
  const [, database = ''] = /^[^/]*:\/\/[^/?]*\/?([^?]*)/.exec(url) ?? [];
  return { client, database: decodeURIComponent(database) || 'animal-store' };
}

/** MongoDB's own databases, and what no database can be called. */
const UNUSABLE = /^(?:admin|config|local)$|[/\\.\s"$*<>:|?\0]/;

const UNUSABLE_DATABASE =
  'names a database that cannot hold a store: ' +
  'use 1 to 63 bytes without blanks, line ends and / \\ . " $ * < > : | ?, ' +
  'and not admin, config or local';

const NOT_A_URL =
  'is not a MongoDB connection string such as ' +
  'mongodb://user:password@host:27017/database?option=value; ' +
  'percent-encode : / ? # [ ] @ and % in user and password; mongodb+srv:// takes one name without port';

/** Options of a URL behind another sign than `?` would be part of the database's name. */
const MISPLACED_OPTIONS = /^[^/]*:\/\/[^/?]*\/[^?]*[&;=#]/;

const NO_OPTIONS =
  'has & ; = or # in the name of its database: options begin with ?, as in host/database?option=value';

/**
 * Resolves to what is wrong with a URL, as the end of a sentence that begins with its name, or to `undefined`. Without
 * secrets. Reads the files that the URL names, and connects to nothing.
 */
export async function mongoUrlFault(url: string): Promise<string | undefined> {
  try {
    const { client, database } = readUrl(url);
    if (UNUSABLE.test(database) || Buffer.byteLength(database) > 63) return UNUSABLE_DATABASE;
    const { minPoolSize, maxPoolSize, ...options } = client.options;
    if (minPoolSize > maxPoolSize) return 'has a minPoolSize above its maxPoolSize';
    if (MISPLACED_OPTIONS.test(url)) return NO_OPTIONS;
    const misread = misreadNumbers(url, client.options);
    if (misread.length > 0) return `has options that are no whole numbers: ${misread.join(', ')}`;
    return await fileFault([options.tlsCAFile, options.tlsCRLFile, options.tlsCertificateKeyFile]);
  } catch (error) {
    // The driver's messages quote the URL with its password, so only the names of options are passed on.
    const words = error instanceof Error ? error.message.toLowerCase().split(/\W+/) : [];
    const options = optionsOf(url).map(([name]) => name);
    const refused = options.filter((option) => words.includes(option));
    if (refused.length > 0) return `has options that the driver refuses: ${refused.join(', ')}`;
    // It also names options as the driver does inside, or by their values alone.
    const [withoutOptions = ''] = url.split('?');
    if (options.length === 0 || !isReadable(withoutOptions)) return NOT_A_URL;
    return `has an option that the driver refuses, one of ${options.join(', ')}`;
  }
}

/** The options of a URL: each name in lower case, and its value. */
function optionsOf(url: string): ReadonlyArray<readonly [name: string, value: string]> {
  const [, query = ''] = url.split('?', 2);
  return [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]);
}

/** The options that the driver reads only the start of: 5 of `5s`, which would be milliseconds. */
function misreadNumbers(url: string, read: object): string[] {
  const numbers = new Map<string, string>();
  for (const [name, value] of Object.entries(read))
    if (typeof value === 'number') numbers.set(name.toLowerCase(), String(value));
  const misread = optionsOf(url).filter(([name, value]) => value !== (numbers.get(name) ?? value));
  return misread.map(([name]) => name);
}

function isReadable(url: string): boolean {
  try {
    readUrl(url);
    return true;
  } catch {
    return false;
  }
}

async function fileFault(files: ReadonlyArray<string | undefined>): Promise<string | undefined> {
  for (const file of files) {
    if (file === undefined) continue;
    try {
      await readFile(file);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return `names a file that cannot be read: ${file} (${code})`;
    }
  }
  return undefined;
}
