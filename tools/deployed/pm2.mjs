// Installs PM2, runs the line of docs/operations/deploy.md with HOST=0.0.0.0, and reloads under load.
import { exec } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { read } from '../../build/test/docs/code-blocks.js';

export const needs = {};

const RELOADS = 2;

export async function run({ root, sh, show }) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-pm2-'));
  const key = 'a-key-of-this-run-alone';
  const env = {
    ...process.env,
    PM2_HOME: join(folder, 'home'),
    PATH: `${folder}/node_modules/.bin:${join(process.execPath, '..')}:${process.env.PATH}`,
    HOST: '0.0.0.0',
    PORT: String(await freePort()),
    API_KEYS: key,
    STORE_URL: `sqlite:${folder}/animals.db`,
    LOG_FORMAT: 'json',
  };
  const pm2 = (line) => promisify(exec)(line, { cwd: root, env, timeout: 120_000 });
  try {
    try {
      sh(`npm install --silent --no-save --prefix ${folder} pm2@7.0.4`, { timeout: 120_000 });
    } catch {
      return 'needs PM2, which npm cannot install';
    }
    const [line, reload] = [...read('docs/operations/deploy.md').matchAll(/`(pm2 [^`]*)`/g)].map(
      ([, each]) => each,
    );
    await pm2(line.replace('-i max', '-i 2'));
    const ask = (agent) =>
      new Promise((resolve) => {
        const options = { port: env.PORT, host: '127.0.0.1', path: '/v1/pets', agent };
        http
          .get({ ...options, headers: { Authorization: `Bearer ${key}` } }, (response) => {
            response.resume().on('close', () => resolve(response.statusCode));
          })
          .on('error', (error) => resolve(error.code))
          .setTimeout(30_000, () => resolve('no response within 30 s'));
      });
    const end = performance.now() + 90_000;
    while ((await ask(false)) !== 200) {
      if (performance.now() > end) throw new Error(`not ready: ${readLogs(env.PM2_HOME)}`);
      await delay(100);
    }
    const agent = new http.Agent({ keepAlive: true });
    const counts = {};
    const over = new AbortController();
    const clients = Array.from({ length: 8 }, async (_, index) => {
      while (!over.signal.aborted) {
        const result = await ask(index % 2 === 0 ? agent : false);
        counts[result] = (counts[result] ?? 0) + 1;
        await delay(5);
      }
    });
    for (let round = 0; round < RELOADS; round += 1) await pm2(reload);
    over.abort();
    await Promise.all(clients);
    agent.destroy();
    const { 200: served, ...failed } = counts;
    show(
      `${RELOADS} reloads under load, on HOST=0.0.0.0`,
      Object.keys(failed).length === 0,
      JSON.stringify({ served, ...failed }),
    );
    const log = readFileSync(join(env.PM2_HOME, 'pm2.log'), 'utf8');
    const killed = log.match(/SIGKILL/g)?.length ?? 0;
    show(
      'PM2 kills no service that is stopping',
      killed === 0,
      killed === 0 ? '' : `${killed} kills`,
    );
  } finally {
    await pm2('pm2 kill').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
  return undefined;
}

function readLogs(home) {
  try {
    return readFileSync(join(home, 'pm2.log'), 'utf8').slice(-2000);
  } catch {
    return '';
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
