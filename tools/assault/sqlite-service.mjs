// What the attacks on an SQLite store share: the built service as a child process that may die, requests, and what the
// store holds in the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const KEY = 'a-static-key-of-the-attacks';
const main = fileURLToPath(new URL('../../build/src/bootstrap/main.js', import.meta.url));
const { openSqliteStore } = await import('../../build/src/adapters/sqlite/index.js');

/** Runs `attack` in a folder of its own, which is removed at the end. */
export async function inFolder(attack) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-assault-'));
  try {
    return await attack(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Starts the service on `file`. `wrapper` is a command that runs it, such as strace -D, which leaves the service our
 * child. Resolves when it listens or has ended; `url` is undefined then. `lines` grows with what it logs.
 */
export async function serve(file, { wrapper = [], options = [], settings = {} } = {}) {
  const [command, ...args] = [...wrapper, process.execPath, ...options, main, 'serve'];
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'info' };
  const child = spawn(command, args, {
    env: { ...env, STORE_URL: `sqlite:${file}`, API_KEYS: KEY, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines = [];
  const service = { lines, url: undefined, end };
  const ended = once(child, 'exit');
  /** Ends it by `signal`. Resolves to its exit code, null if a signal ended it, when it is gone. */
  async function end(signal) {
    if (signal) child.kill(signal);
    return (await ended)[0];
  }
  const log = createInterface({ input: child.stderr });
  const ready = new Promise((resolve) => {
    log.on('line', (text) => {
      if (text.startsWith('{"level":30') && text.includes('"msg":"responded"')) return;
      lines.push(text);
      const url = /"url":"([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) resolve(new URL(url));
    });
    log.on('close', resolve);
  });
  service.url = await ready;
  return service;
}

const agent = new Agent({ keepAlive: true });

/** One request. Rejects if the connection breaks. A `target` such as /readyz is outside of the base path. */
export function send(url, method, target, { headers = {}, body = '', timeout = 10_000 } = {}) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const path = target.startsWith('/pets') ? url.pathname + target : target;
  const sent = request({ agent, host: url.hostname, port: url.port, method, path, timeout });
  sent.setHeader('Authorization', `Bearer ${KEY}`);
  for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
  sent.on('error', reject);
  sent.on('timeout', () => sent.destroy(new Error('no response in time')));
  sent.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: text }));
  });
  sent.end(body);
  return promise;
}

/** Creates the animal with this name. The name is the idempotency key too, so that a retry is recognised. */
export const create = (url, name) =>
  send(url, 'POST', '/pets', {
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name.slice(0, 100) },
    body: JSON.stringify({ name, categoryId: 7 }),
  });

/** The status of GET `target`, or 0 if there was no response. */
export const statusOf = async (url, target) =>
  send(url, 'GET', target).then(
    ({ status }) => status,
    () => 0,
  );

/** Waits until `holds` resolves to true. Resolves to the milliseconds it took, or to Infinity after `limit`. */
export async function until(holds, limit) {
  const began = performance.now();
  while (performance.now() - began < limit) {
    if (await holds()) return Math.round(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return Infinity;
}

/**
 * Opens the store in `file` with the product and compares it with what was acknowledged, a map from names to ids.
 * `lost` counts those that are missing or have another id, `twice` the animals beyond the first of a name and those
 * without exactly one claim, `others` the animals that nobody was told of.
 */
export async function compare(file, acknowledged) {
  const store = await openSqliteStore(file);
  try {
    const pets = await store.pets.list({ limit: 1e6 });
    const claims = await store.transfer.readClaims({ limit: 1e6, now: new Date(0) });
    const ids = new Map(pets.map(({ name, id }) => [name, String(id)]));
    const claimed = new Set(claims.map(({ petId }) => petId));
    let lost = 0;
    for (const [name, id] of acknowledged) if (ids.get(name) !== id) lost += 1;
    const twice =
      pets.length - ids.size + Math.abs(claims.length - pets.length) + (pets.length - claimed.size);
    return { lost, twice, others: [...ids.keys()].filter((name) => !acknowledged.has(name)).length };
  } finally {
    await store.close();
  }
}
