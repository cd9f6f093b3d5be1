import { MongoClient, type MongoClientOptions } from 'mongodb';

/** The URL is no connection string that the driver understands. The message is one line, with no secret in it. */
export class MongoUrlError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'MongoUrlError';
}

/** Where the URL does not say: short enough for a request to be answered, times in milliseconds. */
const DEFAULTS = {
  appName: 'animal-store',
  connectTimeoutMS: 1000,
  heartbeatFrequencyMS: 2000,
  maxPoolSize: 50,
  serverSelectionTimeoutMS: 1500,
  waitQueueTimeoutMS: 1500,
} as const satisfies MongoClientOptions;

const DEFAULT_DATABASE = 'animal-store';

/**
 * The database that the URL names.
 * @throws {MongoUrlError} no database can have this name.
 */
export function databaseIn(url: string): string {
  const path = /^[^:]+:\/\/[^/]*\/(?<path>[^?]*)/.exec(url)?.groups?.['path'] ?? '';
  const name = decode(path) || DEFAULT_DATABASE;
  if (/[/\\. "$*<>:|?\0]/.test(name) || Buffer.byteLength(name) > 63) {
    throw new MongoUrlError(
      'STORE_URL names no possible database: it has 1 to 63 bytes and none of / \\ . " $ * < > : | ? and space',
    );
  }
  return name;
}

/**
 * A client for the servers that the URL names; it connects when it is first used.
 * @throws {MongoUrlError}
 */
export function clientFor(url: string): MongoClient {
  const given = new Set(optionNamesIn(url).map((name) => name.toLowerCase()));
  const defaults = Object.entries(DEFAULTS).filter(([name]) => !given.has(name.toLowerCase()));
  try {
    return new MongoClient(url, { ...Object.fromEntries(defaults), useBigInt64: true });
  } catch (error) {
    throw urlError(error);
  }
}

/** Hosts and database, for people: in whatever order the URL names the members of a set. */
export function locationOf({ options }: MongoClient, database: string): string {
  return options.srvHost === undefined
    ? `mongodb://${options.hosts.map(String).sort().join(',')}/${database}`
    : `mongodb+srv://${options.srvHost}/${database}`;
}

const optionNamesIn = (url: string): string[] => [
  ...new URLSearchParams(url.split('?').slice(1).join('?')).keys(),
];

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The driver's own messages quote the URL, password included. Only those that name an option are passed on, by
 * the name; and the error itself is not kept as a cause, for it would be logged.
 */
function urlError(error: unknown): MongoUrlError {
  const message = error instanceof Error ? error.message : '';
  const [, names] = /^options? ([\w, ]+) (?:is|are) not supported$/.exec(message) ?? [];
  return new MongoUrlError(
    names === undefined
      ? 'STORE_URL is not a MongoDB connection string: mongodb://user:password@host:27017/database?option=value ' +
          'would be one, with : / ? # [ ] @ and % in user and password written as %3A and so on'
      : `STORE_URL has options that MongoDB does not know: ${names}`,
  );
}
