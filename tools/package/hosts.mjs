// Starts each example of a host, with the packed library, and sends it requests.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { animalStoreClient } from '../../build/src/adapters/http/client/index.js';
import { stringifyJson } from '../../build/src/json.js';

const KEY = 'a-key-of-your-own';

/** Those that run on plain Node.js. */
const HOSTS = ['node-http', 'koa', 'express', 'fastify', 'hono'];

async function tryOut(baseUrl, host) {
  const animals = animalStoreClient({ baseUrl, apiKey: KEY });
  const categoryId = 2n ** 63n - 1n;
  const { pet } = await animals.createPet({ name: 'Bella', categoryId });
  assert.equal(pet.categoryId, categoryId);
  assert.deepEqual(await animals.getPet(pet.id), pet);
  if (host === 'koa') {
    const response = await fetch(new URL(`/window/${pet.id}`, baseUrl));
    assert.equal(await response.text(), stringifyJson(pet));
  }
  await assert.rejects(animals.getPet(2), { code: 'pet_not_found' });
  const stranger = animalStoreClient({ baseUrl, apiKey: 'another-key' });
  await assert.rejects(stranger.listPets(), { code: 'invalid_api_key' });
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
      await tryOut(base, host);
      console.log(`${host}: POST 201, GET 200, 401, 404`);
    } finally {
      child.kill();
    }
  }
}
