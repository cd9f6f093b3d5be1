import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { missingServer, startPostgres } from './postgres-server.mjs';

const missing = await missingServer();
if (missing && process.env.REQUIRE_POSTGRES === '1') throw new Error(missing);

const PROGRAM = 'node_modules/animal-store/build/src/bootstrap/main.js';
const HEADERS = { Authorization: 'Bearer a-key-of-your-own', 'Content-Type': 'application/json' };
const BELLA = '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}';

const environment = (url) => ({
  PATH: process.env.PATH,
  ADAPTERS: './adapter.mjs',
  STORE_URL: url,
  API_KEYS: 'a-key-of-your-own',
  PORT: '0',
});

async function countTables(url) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    "SELECT relname FROM pg_class WHERE relname IN ('last_id', 'pets')",
  );
  await client.end();
  return rows.length;
}

/** Calls `use` with the address of a service, and stops the service. Resolves to the lines of its log. */
async function serving(url, use) {
  const service = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: environment(url),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(service, 'exit');
  const lines = [];
  const log = createInterface({ input: service.stderr });
  const ready = Promise.withResolvers();
  log.on('line', (line) => {
    lines.push(line);
    const address = /"url":"([^"]+)"/.exec(line)?.[1];
    if (address) ready.resolve(address);
  });
  log.on('close', () => ready.reject(new Error(`the service ended:\n${lines.join('\n')}`)));
  try {
    await use(await ready.promise);
  } finally {
    service.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null]);
  return lines;
}

/** Runs a command of the program. Resolves to its exit code and its output. */
const command = (url, ...args) =>
  promisify(execFile)(process.execPath, [PROGRAM, ...args], { env: environment(url) }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, text: stdout + stderr }),
  );

describe('The service on PostgreSQL', { skip: missing }, () => {
  let server;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  it('keeps animals, and has them when it is started again', async () => {
    const { url } = await server.create();
    const body = '{"name":"Bella","categoryId":9223372036854775807}';
    const lines = await serving(url, async (address) => {
      const added = await fetch(`${address}/pets`, { method: 'POST', headers: HEADERS, body });
      assert.deepEqual([added.status, await added.text()], [201, BELLA]);
      assert.equal((await fetch(new URL('/readyz', address))).status, 200);
    });
    assert.match(lines.join('\n'), /"store":"PostgreSQL at \/tmp\/pg-\w+\/pets_\d+"/);
    await serving(url, async (address) => {
      const listed = await fetch(`${address}/pets`, { headers: HEADERS });
      assert.equal(await listed.text(), `[${BELLA}]`);
    });
  });

  it('does not create a store that must exist, and says so', async () => {
    const { url, name } = await server.create();
    const missingStore = await command(url, 'keys', 'list');
    assert.equal(missingStore.code, 1);
    assert.match(missingStore.text, new RegExp(`PostgreSQL at .*/${name} holds no store\n$`));
    assert.equal(await countTables(url), 0);
    const nowhere = await command(url.replace(name, 'nowhere'), 'keys', 'list');
    assert.match(nowhere.text, /\/nowhere holds no store\n$/);

    await serving(url, (address) => fetch(new URL('/readyz', address)));
    assert.match((await command(url, 'keys', 'list')).text, /^This store keeps no API keys/);
  });

  it('says in one line that its URL is invalid, without the password', async () => {
    const { code, text } = await command('postgres://pets:secret@db:54x2/pets', 'keys', 'list');
    assert.equal(code, 2);
    assert.match(text, /^Invalid URL\. .*\n$/);
    assert.doesNotMatch(text, /secret/);
  });

  it('starts while the database is unreachable, and answers 503 until it is reachable', async () => {
    const { url, name } = await server.create();
    await serving(url.replace(name, `${name}_later`), async (address) => {
      const answer = await fetch(`${address}/pets`, { headers: HEADERS });
      assert.equal(answer.status, 503);
      assert.equal((await answer.json()).code, 'service_unavailable');
      await server.rename(name, `${name}_later`);
      assert.equal(await (await fetch(`${address}/pets`, { headers: HEADERS })).text(), '[]');
    });
  });
});
