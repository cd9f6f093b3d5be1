// Starts each example of a host, with the packed library, and sends it four requests.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const KEY = 'a-key-of-your-own';
const BELLA = '{"name":"Bella","categoryId":9223372036854775807}';
const authorized = { Authorization: `Bearer ${KEY}` };

/** Those that run on plain Node.js. */
const HOSTS = ['koa', 'express', 'fastify', 'hono'];

async function tryOut(base) {
  const pets = `${base}/pets`;
  const headers = { ...authorized, 'Content-Type': 'application/json' };
  const created = await fetch(pets, { method: 'POST', headers, body: BELLA });
  const animal = await created.text();
  assert.deepEqual([created.status, animal.includes(BELLA.slice(1, -1))], [201, true]);

  const found = await fetch(`${pets}/${JSON.parse(animal).id}`, { headers: authorized });
  assert.deepEqual([found.status, await found.text()], [200, animal]);
  assert.equal((await fetch(pets)).status, 401);
  assert.equal((await fetch(`${pets}/2`, { headers: authorized })).status, 404);
}

/** Tries the examples in a folder where they are installed. */
export async function tryHosts(cwd) {
  for (const host of HOSTS) {
    const env = { PATH: process.env.PATH, API_KEY: KEY, PORT: '0' };
    const stdio = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, ['start.mjs', host], { cwd, env, stdio });
    try {
      const ended = once(child, 'exit').then(([code]) => assert.fail(`${host} ends with ${code}`));
      const [base] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
      await tryOut(base);
      console.log(`${host}: POST 201, GET 200, 401, 404`);
    } finally {
      child.kill();
    }
  }
}
