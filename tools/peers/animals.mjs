// What every peer of `npm run measure` works with: the animals in node:sqlite, each create durable once it is answered,
// and, unless BARE=1, what the service is equipped with: a static key compared by its hash, request ids, ETags, the
// same headers, and a log line for each request. What the service has beside that is left out here (integers beyond
// 2^53, idempotency keys, bounds, deadlines), so the comparison favours the peers.
import { createHash, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { DatabaseSync } from 'node:sqlite';

/** Loads a package of tools/peers. */
export const load = createRequire(new URL('./package.json', import.meta.url));

const { API_KEYS, STORE_URL } = process.env;
export const isBare = process.env.BARE === '1';

const database = new DatabaseSync(STORE_URL.slice('sqlite:'.length));
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE pets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, category_id INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT;
  CREATE INDEX pets_by_status ON pets (status, id)`);
const COLUMNS = 'id, name, category_id AS categoryId, status';
const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const select = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const selectAll = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT +?`);
const selectByStatus = database.prepare(
  `SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT +?`,
);

export function create({ name, categoryId, status = 'available' }) {
  const { lastInsertRowid: id } = insert.run(name, categoryId, status);
  return { id, name, categoryId, status };
}

export const find = (id) => select.get(id);

/** A page, and the value of its Link header if there is a next one. */
export function list({ status, cursor = 0, limit = 20 }) {
  const pets = status
    ? selectByStatus.all(status, cursor, limit + 1)
    : selectAll.all(cursor, limit + 1);
  if (pets.length <= limit) return { pets };
  pets.pop();
  const filter = status ? `status=${status}&` : '';
  return { pets, link: `</v1/pets?${filter}limit=${limit}&cursor=${pets.at(-1).id}>; rel="next"` };
}

const digest = (key) => createHash('sha256').update(key).digest();
const expected = digest(API_KEYS);

/** Whether a header Authorization has the key. */
export function isAuthorized(authorization) {
  const [scheme, key] = authorization?.split(' ') ?? [];
  return scheme === 'Bearer' && key !== undefined && timingSafeEqual(digest(key), expected);
}

export const newRequestId = () => randomUUID();
export const tagOf = (body) => `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;

/** The headers of every response. */
export const commonHeaders = (id, method) => ({
  'X-Request-Id': id,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': method === 'GET' ? 'private, no-cache' : 'no-store',
});
/** Those of one animal, which is deprecated. */
export const deprecation = {
  Deprecation: '@1795132800',
  Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  Link: '</v1/pets?status=available>; rel="successor-version"',
};

const pino = load('pino');
/** With BATCH_LOG=1 written as the service's: several lines together. Else each by itself, as pino does if not told. */
const destination =
  process.env.BATCH_LOG === '1'
    ? pino.destination({ fd: 2, sync: true, minLength: 4096, periodicFlush: 100 })
    : pino.destination(2);
const log = pino({ base: null }, destination);

/** One line for each response, with the members of the service's. */
export const logResponse = (response) => log.info({ keyId: 'static', ...response }, 'responded');

/** Tells `npm run measure` where the peer listens. */
export const isListening = (port) =>
  process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/v1` })}\n`);
