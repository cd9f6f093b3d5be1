// What the peers of `npm run measure` share: animals in node:sqlite, each create synced, and what else the service has: an
// API key compared by its hash, request ids, ETags, the same headers and a log line. They lack integers beyond 2^53,
// idempotency keys, bounds and deadlines, so the comparison favours them.
import { createHash, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import pino from 'pino';

const { API_KEYS, STORE_URL } = process.env;

const database = new DatabaseSync(STORE_URL.slice('sqlite:'.length));
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,
    category_id INTEGER NOT NULL, status TEXT NOT NULL) STRICT;
  CREATE INDEX pets_by_status ON pets (status, id)`);
const COLUMNS = 'id, name, category_id AS categoryId, status';
const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const select = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
// `LIMIT +?`: with a plain `LIMIT ?`, SQLite plans the statement again for each value.
const selectAll = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT +?`);
const selectByStatus = database.prepare(
  `SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT +?`,
);

export const STATUSES = ['available', 'pending', 'sold'];

const isStatus = (status) => status === undefined || STATUSES.includes(status);

/** For peers without schemas. */
export const isNewPet = ({ name, categoryId, status }) =>
  typeof name === 'string' && /\S/.test(name) && Number.isInteger(categoryId) && isStatus(status);

/** The page that a query names, or `undefined` if it is not valid. */
export function pageOf({ status, limit: givenLimit = '20', after: givenAfter = '0' }) {
  const [limit, after] = [Number(givenLimit), Number(givenAfter)];
  const isPage = Number.isInteger(limit) && limit >= 1 && limit <= 100;
  return isPage && Number.isInteger(after) && after >= 0 && isStatus(status)
    ? { status, limit, after }
    : undefined;
}

export function create({ name, categoryId, status = 'available' }) {
  const { lastInsertRowid: id } = insert.run(name, categoryId, status);
  return { id, name, categoryId, status };
}

export const find = (id) => select.get(id);

/** A page, and the value of its Link header if there is a next one. */
export function list({ status, after, limit }) {
  const pets = status
    ? selectByStatus.all(status, after, limit + 1)
    : selectAll.all(after, limit + 1);
  if (pets.length <= limit) return { pets };
  pets.pop();
  const filter = status ? `status=${status}&` : '';
  return { pets, link: `</v1/pets?limit=${limit}&${filter}after=${pets.at(-1).id}>; rel="next"` };
}

const digest = (key) => createHash('sha256').update(key).digest();
const expected = digest(API_KEYS);

export const tagOf = (body) => `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;

/** The headers of getPet, which is deprecated. */
export const deprecation = {
  Deprecation: '@1795132800',
  Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  Link: '</v1/pets?status=available>; rel="successor-version"',
};

/** Written as the service's: several lines together. */
const destination = pino.destination({ fd: 2, sync: true, minLength: 4096, periodicFlush: 100 });
const log = pino({ base: null }, destination);

/**
 * Equips a response of node:http: sets the headers of every response, and logs it with the members of the service's line.
 * `operationOf` is called at the end. Returns whether the request has the key.
 */
export function equip(request, response, operationOf) {
  const began = performance.now();
  const requestId = randomUUID();
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  const isRead = request.method === 'GET';
  response.setHeader('Cache-Control', isRead ? 'private, no-cache' : 'no-store');
  response.once('finish', () =>
    log.info(
      {
        requestId,
        method: request.method,
        path: request.url.split('?', 1)[0],
        operation: operationOf(),
        clientAddress: request.socket.remoteAddress,
        userAgent: request.headers['user-agent'],
        keyId: 'static',
        status: response.statusCode,
        bytes: Number(response.getHeader('content-length')),
        milliseconds: performance.now() - began,
      },
      'responded',
    ),
  );
  const [scheme, key] = request.headers.authorization?.split(' ') ?? [];
  return scheme === 'Bearer' && key !== undefined && timingSafeEqual(digest(key), expected);
}

/** Tells `npm run measure` where the peer listens. SIGTERM ends it. */
export function announce(server) {
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  process.stderr.write(`${JSON.stringify({ url })}\n`);
  process.on('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
  });
}
