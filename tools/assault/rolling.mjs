// Restarts two services in turn under a load of keyed creates and reads that the clients do not retry: on one port with
// REUSE_PORT=on, then behind nginx with docs/operations/nginx.conf, on one SQLite file and on MongoDB.
import { randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openMongoStore } from '../../build/src/adapters/mongodb/index.js';
import { openSqliteStore } from '../../build/src/adapters/sqlite/index.js';
import { Mongod } from '../../build/test/adapters/mongodb/mongod.js';
import { PATH } from '../../build/test/docs/needing.js';
import { startNginx } from '../../build/test/docs/nginx.js';
import { Ledger, create, inFolder, mongodPath, send, serve } from './keyed-creates.mjs';

const CLIENTS = 24;
const PAUSE = 500; // between two restarts, in milliseconds

export async function attack({ short, show }) {
  const given = { restarts: short ? 2 : 20, show };
  for (const [connections, keptShare] of Object.entries({ kept: 1, new: 0, mixed: 0.5 }))
    await inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const settings = { REUSE_PORT: 'on' };
      const services = [await serve(`sqlite:${file}`, { settings })];
      services.push(await serve(`sqlite:${file}`, { settings, port: services[0].url.port }));
      const load = new Load(services[0].url, (options) => new http.Agent(options));
      await restartInTurn(services, (port) => serve(`sqlite:${file}`, { settings, port }), load, {
        ...given,
        keptShare,
      });
      // The operating system resets a connection whose handshake is not complete when its listener closes.
      const isLossless = keptShare === 1;
      await judge(`one port, ${connections} connections`, load, openSqliteStore(file), {
        ...given,
        isLossless,
      });
    });
  const missing = ['nginx', 'openssl'].filter(
    (name) => spawnSync('which', [name], { env: { PATH } }).status !== 0,
  );
  if (missing.length > 0) return `needs ${missing.join(' and ')}`;
  await inFolder(async (folder) => {
    const file = join(folder, 'animals.db');
    await rollBehindNginx('SQLite', folder, `sqlite:${file}`, () => openSqliteStore(file), given);
  });
  const binary = await mongodPath();
  if (binary === undefined) return 'on MongoDB: needs mongod';
  const mongod = await Mongod.create(binary, { replicaSet: true });
  try {
    await mongod.start();
    const uri = mongod.uri('animals');
    return await inFolder((folder) =>
      rollBehindNginx('MongoDB', folder, uri, () => openMongoStore(uri), given),
    );
  } finally {
    await mongod.remove();
  }
}

async function rollBehindNginx(name, folder, storeUrl, open, given) {
  const services = [await serve(storeUrl), await serve(storeUrl)];
  const nginx = await startNginx(
    folder,
    services.map(({ url }) => Number(url.port)),
  );
  const throughNginx = { socketPath: nginx.socketPath, rejectUnauthorized: false };
  const agentWith = (options) => new https.Agent({ ...throughNginx, ...options });
  const load = new Load(new URL('https://animals.example'), agentWith);
  await restartInTurn(services, (port) => serve(storeUrl, { port }), load, given);
  await nginx.stop();
  await judge(name, load, open(), { ...given, isLossless: true });
}

/** @param keptShare of the clients that keep their connections */
async function restartInTurn(services, start, load, { restarts, keptShare = 1 }) {
  const clients = Array.from({ length: CLIENTS }, (_, number) =>
    load.client(number < CLIENTS * keptShare),
  );
  const stop = async (service) => {
    const [code] = await service.stop();
    if (code !== 0) load.unclean += 1;
    for (const line of service.lines) if (/"level":[4-6]0/.test(line)) console.log(line);
  };
  for (let turn = 0; turn < restarts; turn += 1) {
    await delay(PAUSE);
    const service = services[turn % 2];
    await stop(service);
    services[turn % 2] = await start(service.url.port);
  }
  await delay(PAUSE);
  load.over = true;
  await Promise.all(clients);
  await Promise.all(services.map(stop));
}

async function judge(name, load, opening, { restarts, isLossless, show }) {
  console.log(
    `${name}: ${restarts} restarts under ${load.sent} requests, of which ${load.failed} failed`,
  );
  if (isLossless) show(`${name}: keyed creates and reads that failed`, load.failed, 'equals', 0);
  await load.ledger.judge(show, opening, name);
  show(`${name}: stops that did not end with 0`, load.unclean, 'equals', 0);
  show(`${name}: longest response`, Math.round(load.longest), 'at most', 3000, ' ms');
}

/** Clients that send one request after the other and retry none. */
class Load {
  ledger = new Ledger();
  sent = 0;
  failed = 0;
  unclean = 0;
  longest = 0;
  over = false;
  #base;
  #agentWith;

  constructor(base, agentWith) {
    this.#base = base;
    this.#agentWith = agentWith;
  }

  async client(keepAlive) {
    const agent = this.#agentWith({ keepAlive, maxSockets: 1 });
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
