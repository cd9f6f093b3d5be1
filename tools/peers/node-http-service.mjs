// The animals' three operations by nothing but node:http and node:sqlite, for `npm run measure`: about the least that
// serving them can cost. No key, no checks, no log; each create is a commit of its own.
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(process.env.STORE_URL.slice('sqlite:'.length));
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE pets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, category_id INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT;
  CREATE INDEX pets_by_status ON pets (status, id)`);
const COLUMNS = 'id, name, category_id AS categoryId, status';
const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const find = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const list = database.prepare(`SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT 20`);
const listByStatus = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE status = ? ORDER BY id LIMIT 20`);

const send = (response, status, value) => {
  const body = JSON.stringify(value);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
};

const server = createServer((request, response) => {
  const { method, url } = request;
  if (method === 'GET' && url.startsWith('/v1/pets/')) return send(response, 200, find.get(url.slice(9)));
  if (method === 'GET') {
    return send(response, 200, url.includes('status=') ? listByStatus.all('available') : list.all());
  }
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const { name, categoryId, status = 'available' } = JSON.parse(text);
    const { lastInsertRowid } = insert.run(name, categoryId, status);
    send(response, 201, { id: lastInsertRowid, name, categoryId, status });
  });
});
server.listen(0, '127.0.0.1', () =>
  process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/v1` })}\n`),
);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
