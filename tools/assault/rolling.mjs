// Restarts two services in turn under a load of keyed creates and reads that the clients do not retry: on one port with
// REUSE_PORT=on, then behind nginx with docs/operations/nginx.conf, on one SQLite file and on MongoDB.
import { randomUUID } from 'node:crypto';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { openSqliteStore } from '../../build/src/adapters/sqlite/index.js';
import { Mongod } from '../../build/test/adapters/mongodb/mongod.js';
import { Ledger, create, inFolder, mongodPath, send, serve } from './keyed-creates.mjs';

const CLIENTS = 24;
const PAUSE = 500; // between two restarts, in milliseconds
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

export async function attack({ short, show }) {
  for (const [connections, share] of Object.entries({ kept: 1, new: 0, mixed: 0.5 }))
    await inFolder((folder) => rollOnOnePort(connections, share, { folder, restarts: short ? 2 : 20, show }));
  const missing = ['nginx', 'openssl'].filter(
    (name) => spawnSync('which', [name], { env: { PATH } }).status !== 0,
  );
  if (missing.length > 0) return `needs ${missing.join(' and ')}`;
  const binary = await mongodPath();
  return inFolder(async (folder) => {
    const file = join(folder, 'animals.db');
    const given = { folder, restarts: short ? 2 : 20, show };
    await roll('SQLite', `sqlite:${file}`, () => openSqliteStore(file), given);
    if (binary === undefined) return 'on MongoDB: needs mongod';
    const mongod = await Mongod.create(binary, { replicaSet: true });
    try {
      await mongod.start();
      const uri = mongod.uri('animals');
      await roll('MongoDB', uri, () => openMongoStore(uri), given);
    } finally {
      await mongod.remove();
    }
  });
}

/** Stops a service, and shows what it logged as warnings and errors. */
async function stop(service) {
  await service.stop();
  for (const line of service.lines) if (/"level":[4-6]0/.test(line)) console.log(line);
}

/**
 * Without a proxy. What is lost is counted against a budget only on kept connections: the operating system resets a
 * connection whose handshake is not complete when its listener closes.
 * @param share of the clients that keep their connections
 */
async function rollOnOnePort(connections, share, { folder, restarts, show }) {
  const file = join(folder, 'animals.db');
  const port = await freePort();
  const start = () => serve(`sqlite:${file}`, { port, settings: { REUSE_PORT: 'on' } });
  const services = [await start(), await start()];
  const load = new Load(services[0].url);
  const clients = Array.from({ length: CLIENTS }, (_, number) => load.client(number < CLIENTS * share));
  for (let turn = 0; turn < restarts; turn += 1) {
    await delay(PAUSE);
    await stop(services[turn % 2]);
    services[turn % 2] = await start();
  }
  load.over = true;
  await Promise.all(clients);
  await Promise.all(services.map(stop));
  const { lost, twice } = await load.ledger.compare(openSqliteStore(file));
  const name = `one port, ${connections} connections`;
  console.log(`${name}: ${restarts} restarts under ${load.sent} requests, of which ${load.failed} failed`);
  if (share === 1) show(`${name}: keyed creates and reads that failed`, load.failed, 'equals', 0);
  show(`${name}: acknowledged creates that were lost`, lost, 'equals', 0);
  show(`${name}: creates that made two animals`, twice, 'equals', 0);
}

async function roll(store, storeUrl, open, { folder, restarts, show }) {
  const services = [await serve(storeUrl), await serve(storeUrl)];
  const ports = services.map(({ url }) => url.port);
  const nginx = await startNginx(folder, ports);
  const load = new Load(nginx.url);
  const clients = Array.from({ length: CLIENTS }, () => load.client());
  let unclean = 0;
  for (let turn = 0; turn < restarts; turn += 1) {
    await delay(PAUSE);
    const [code] = await services[turn % 2].stop();
    if (code !== 0) unclean += 1;
    services[turn % 2] = await serve(storeUrl, { port: ports[turn % 2] });
  }
  await delay(PAUSE);
  load.over = true;
  await Promise.all(clients);
  await Promise.all(services.map((service) => service.stop()));
  const { lost, twice } = await load.ledger.compare(open());
  await nginx.stop();
  console.log(`${store}: ${restarts} restarts under ${load.sent} requests`);
  show(`${store}: keyed creates and reads that failed`, load.failed, 'equals', 0);
  show(`${store}: acknowledged creates that were lost`, lost, 'equals', 0);
  show(`${store}: creates that made two animals`, twice, 'equals', 0);
  show(`${store}: stops that did not end with 0`, unclean, 'equals', 0);
  show(`${store}: longest response`, Math.round(load.longest), 'at most', 3000, ' ms');
}

/** Clients that send one request after the other and retry none. */
class Load {
  ledger = new Ledger();
  sent = 0;
  failed = 0;
  longest = 0;
  over = false;
  #base;

  constructor(base) {
    this.#base = base;
  }

  async client(keepAlive = true) {
    const { Agent } = this.#base.protocol === 'https:' ? https : http;
    const agent = new Agent({ keepAlive, maxSockets: 1, rejectUnauthorized: false });
    const get = (path) => this.#judge(200, send(this.#base, path, { agent }));
    while (!this.over) {
      const name = randomUUID();
      const created = await this.#judge(201, create(this.#base, name, agent));
      if (created === undefined) continue;
      this.ledger.acknowledge(name, created);
      await get(`/v1/pets/${JSON.parse(created).id}`);
      await get('/v1/pets?limit=5');
    }
    agent.destroy();
  }

  /** Resolves to the body of the response, if it is the expected one. */
  async #judge(expected, sending) {
    const began = performance.now();
    const { status, body } = await sending.catch(({ message }) => ({ status: message }));
    this.longest = Math.max(this.longest, performance.now() - began);
    this.sent += 1;
    if (status === expected) return body;
    if (this.failed < 5) console.log(`instead of ${expected}: ${status}`);
    this.failed += 1;
  }
}

/** The documented file with other ports, and a certificate that was made just now. */
async function startNginx(folder, [first, second]) {
  const front = await freePort();
  const url = new URL(`https://127.0.0.1:${front}`);
  const [pem, key] = [join(folder, 'pem'), join(folder, 'key')];
  const subject = ['-nodes', '-days', '2', '-subj', '/CN=animals.example', '-keyout', key, '-out', pem];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject], { stdio: 'ignore' });
  const documented = readFileSync(new URL('../../docs/operations/nginx.conf', import.meta.url), 'utf8');
  const site = documented
    .replace('127.0.0.1:8081', `127.0.0.1:${first}`)
    .replace('127.0.0.1:8082', `127.0.0.1:${second}`)
    .replace('listen 443 ', `listen 127.0.0.1:${front} `)
    .replace('/etc/ssl/certs/animals.example.pem', pem)
    .replace('/etc/ssl/private/animals.example.key', key);
  writeFileSync(join(folder, 'site.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const main = `${user} daemon off; pid ${folder}/pid; events {} http { access_log off; ${temporary.join(' ')} include ${folder}/site.conf; }`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  const errors = join(folder, 'error.log');
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', errors], {
    env: { PATH },
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  const end = () => child.kill();
  process.on('exit', end);
  const agent = new https.Agent({ rejectUnauthorized: false });
  while (!(await send(url, '/livez', { agent }).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${readFileSync(errors, 'utf8')}`);
    await delay(20);
  }
  return {
    url,
    async stop() {
      child.kill('SIGQUIT');
      await ended;
      process.off('exit', end);
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}
