// Starts an example, set up as a check wants it: in this process, or in that of another runtime.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createAnimalStore } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
// Not exported: programs use listenerSubjects or fetchSubjects.
import { wireHttp } from '../node_modules/animal-store/build/test/contract/http/wire-http.js';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';

export const KEY = 'key-of-the-hosts-0123456789';
export const FAULT = 'the disk is gone';

/**
 * The interface in a situation of the contract; or with `faults`, which the log fills, and a store that throws if `fails`
 * is true.
 */
export async function wire({ situation, fails }) {
  if (situation) return wireHttp(situation);
  const store = openMemoryStore();
  const pets = fails ? Object.create(store.pets, { list: { value: fail } }) : store.pets;
  const faults = [];
  const http = new HttpInterface({
    animalStore: createAnimalStore({ pets }),
    authenticator: new ApiKeyAuthenticator({ staticKeys: [KEY] }),
    readiness: new Readiness((call) => store.check(call)),
    log: { responded: ({ error }) => void (error && faults.push(error.message)) },
  });
  return { http, keys: { key: KEY }, faults };
}

async function fail() {
  throw new TypeError(FAULT);
}

/** Starts an example here. `path` is where its clients find the animals. */
export async function startHere(listen, { path = '', options, ...setup }) {
  const { http, keys, used, faults } = await wire(setup);
  let begun = 0;
  const handle = http.handle.bind(http);
  http.handle = (...request) => {
    begun += 1;
    return handle(...request).finally(() => (begun -= 1));
  };
  const server = await listen(http, { port: 0, path, ...options });
  if (server.listening === false) await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}${path.replace(/\/$/, '')}${http.settings.basePath}`,
    keys,
    used,
    faults,
    inProgress: () => begun,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** On Node.js, Bun and Deno. */
export const portOf = (server) => server.port ?? server.addr?.port ?? server.address().port;

/** Starts a command that prints its URL, or an object with its `port`, and then a line for each fault. */
export async function startProcess(
  [command, ...args],
  { basePath = '/v1', keys = { key: KEY }, ...options },
) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const faults = [];
  const said = [];
  child.stderr.on('data', (text) => said.push(text));
  const exited = once(child, 'exit');
  const listening = new Promise((resolve, reject) => {
    void exited.then(() => reject(new Error(`${command} ended: ${said.join('')}`)));
    const lines = createInterface({ input: options.stdio ? child.stdio.at(-1) : child.stdout });
    lines.once('line', (line) => resolve(line.startsWith('{') ? JSON.parse(line) : { url: line }));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('fault ')) faults.push(line.slice('fault '.length));
    });
  });
  const started = await listening;
  return {
    url: started.url ?? `http://127.0.0.1:${started.port}${basePath}`,
    keys: started.keys ?? keys,
    faults,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
