// Starts the animal store in one of these hosts, with animals in memory. In the host's folder, with the packed package:
//   npm ci && npm install --no-save ../../../animal-store-0.3.0.tgz
//   API_KEY=a-key-of-your-own npm start [-- FILE]
// FILE is one of the folder's examples without its extension. Default: app. PORT defaults to 8080.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const { API_KEY, PORT = '8080' } = process.env;
const [name, file = 'app'] = process.argv.slice(2);
const example = new URL(`./${name}/${file}.mjs`, import.meta.url);
// The packages of the example's folder: the interface and the transport must be of one installation.
const { resolve } = createRequire(example);
const load = (entry) => import(pathToFileURL(resolve(entry)).href);
const { createAnimalStore } = await load('animal-store');
const { ApiKeyAuthenticator } = await load('animal-store/api-keys');
const { HttpInterface, Readiness } = await load('animal-store/http');
const { openMemoryStore } = await load('animal-store/memory');
const { listen, MOUNT_PATH = '' } = await import(example.href);

const { pets, check } = openMemoryStore();
const http = new HttpInterface({
  animalStore: createAnimalStore({ pets }),
  authenticator: new ApiKeyAuthenticator({ staticKeys: [API_KEY] }),
  readiness: new Readiness(check),
});
const server = await listen(http, { port: Number(PORT) });
if (server.listening === false) await once(server, 'listening');
const port = server.port ?? server.addr?.port ?? server.address().port; // Bun, Deno, Node.js
console.log(`http://127.0.0.1:${port}${MOUNT_PATH}/v1/pets`);
console.log(
  `curl http://127.0.0.1:${port}${MOUNT_PATH}/v1/pets -H "Authorization: Bearer ${API_KEY}"`,
);
