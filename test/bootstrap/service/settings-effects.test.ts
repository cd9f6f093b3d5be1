import { expect } from 'chai';
import { rejects } from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS, type Settings } from '../../../src/bootstrap/service/settings.js';
import { HeldPetRepository } from '../../adapters/http/fixtures.js';
import { cleanUp, temporaryFolder } from '../../service/running-service.js';
import { KEY, Serving } from '../test-io.js';
import { freePort } from '../../lasting-port.js';
import { TOKENS, type Adapter, type Wiring } from '../../../src/bootstrap/service/wiring.js';

interface Init {
  readonly method?: string;
  readonly headers?: Environment;
  readonly body?: string;
}

type Environment = Readonly<Record<string, string>>;

/** Starts the service with a store in memory and a static key, and resolves when it is ready. */
async function start(environment: Environment, ...modules: readonly Adapter[]) {
  const serving = new Serving({ STORE_URL: 'memory:', API_KEYS: KEY, ...environment }, ...modules);
  const url = await serving.ready();
  /** A request with the key. Paths are below the base path. */
  const ask = (path: string, init: Init = {}, key = KEY): Promise<Response> =>
    fetch(url + path, { ...init, headers: { Authorization: `Bearer ${key}`, ...init.headers } });
  return { serving, url, origin: new URL(url).origin, ask, ready: serving.io.lines.at(-1) ?? {} };
}

const statusOf = async (response: Promise<Response>): Promise<number> => (await response).status;

const create = (body = '{"name":"Bella","categoryId":1}'): Init => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body,
});

/** A store whose calls wait for the test, and the module that puts it in place of the store of animals. */
function heldStore(): { held: HeldPetRepository; module: Adapter } {
  const held = new HeldPetRepository();
  const module = ({ replace }: Wiring) => replace(TOKENS.petRepository, held);
  return { held, module };
}

/** A service that stops while a request waits for its store: the code that it ends with, and what becomes of the request. */
async function stoppingWithin(SHUTDOWN_DEADLINE: string) {
  const { held, module } = heldStore();
  const { serving, ask } = await start({ SHUTDOWN_DEADLINE, REQUEST_DEADLINE: '1h' }, module);
  const asked = ask('/pets').then(
    () => 'answered',
    () => 'cut off',
  );
  await held.called(1);
  return { held, ended: Promise.all([serving.stop(), asked]) };
}

const onLinux = process.platform === 'linux';

/** What shows that a setting has an effect in the running service. A setting without one does not compile. */
const EFFECTS: Readonly<
  Record<
    Exclude<keyof Settings, 'staticKeys'>,
    readonly [effect: string, shows: () => Promise<void>]
  >
> = {
  host: [
    'both ports listen on this address, and on no other',
    async () => {
      const { origin, ready } = await start({ HOST: '127.0.0.2', ADMIN_PORT: '0' });
      for (const address of [`${origin}/livez`, String(ready['metrics'])]) {
        expect((await fetch(address)).status, address).to.equal(200);
        await rejects(fetch(address.replace('127.0.0.2', '127.0.0.1')), address);
      }
    },
  ],
  port: [
    'the service listens on it',
    async () => {
      const PORT = String(await freePort());
      expect((await start({ PORT })).url).to.equal(`http://127.0.0.1:${PORT}/v1`);
    },
  ],
  adminPort: [
    'metrics are on it',
    async () => {
      const ADMIN_PORT = String(await freePort());
      const { ask } = await start({ ADMIN_PORT });
      await ask('/pets');
      const page = await (await fetch(`http://127.0.0.1:${ADMIN_PORT}/metrics`)).text();
      expect(page).to.include('animal_store_requests_total{operation="listPets",status="200"} 1');
    },
  ],
  basePath: [
    'the operations are below it',
    async () => {
      const { origin, ask } = await start({ BASE_PATH: '/animals/v1' });
      expect(await ask('/pets')).to.include({ status: 200 });
      expect(await fetch(`${origin}/v1/pets`)).to.include({ status: 404 });
    },
  ],
  publicUrl: [
    'Location begins with it',
    async () => {
      const { ask } = await start({ PUBLIC_URL: 'https://animals.example/shop/v1' });
      const { headers } = await ask('/pets', create());
      expect(headers.get('location')).to.equal('https://animals.example/shop/v1/pets/1');
    },
  ],
  stagingUrl: [
    'the OpenAPI document names it',
    async () => {
      const { origin } = await start({ STAGING_URL: 'https://staging.example/v1' });
      const document = await (await fetch(`${origin}/openapi.json`)).text();
      expect(document).to.include('"https://staging.example/v1"');
    },
  ],
  bodyLimit: [
    'a larger body gets 413',
    async () => {
      const largest = '{"name":"Bella","categoryId":1}';
      const { ask } = await start({ BODY_LIMIT: `${largest.length}b` });

      const accepted = await statusOf(ask('/pets', create(largest)));
      const refused = await statusOf(ask('/pets', create(`${largest} `)));

      expect(accepted, 'a body of BODY_LIMIT').to.equal(201);
      expect(refused, 'a body that is a byte longer').to.equal(413);
    },
  ],
  requestDeadline: [
    'a request that takes longer gets 503, sooner than with a longer one',
    async () => {
      const { held, module } = heldStore();
      const slow = await start({ REQUEST_DEADLINE: '1m' }, module);
      const quick = await start({ REQUEST_DEADLINE: '50ms' }, heldStore().module);
      const later = statusOf(slow.ask('/pets'));
      await held.called(1);
      expect(await quick.ask('/pets')).to.include({ status: 503 });
      held.calls[0]?.resolve();
      expect(await later).to.equal(200);
    },
  ],
  maxInFlight: [
    'a request beyond it gets 503',
    async () => {
      const { held, module } = heldStore();
      const { ask } = await start({ MAX_IN_FLIGHT: '1' }, module);
      const first = ask('/pets');
      await held.called(1);
      expect(await ask('/pets')).to.include({ status: 503 });
      held.calls[0]?.resolve();
      expect(await first).to.include({ status: 200 });
    },
  ],
  deprecatedSince: [
    'Deprecation says it',
    async () => {
      const { headers } = await (await start({ DEPRECATED_SINCE: '2029-02-28' })).ask('/pets/1');
      expect(headers.get('deprecation')).to.equal(`@${Date.parse('2029-02-28') / 1000}`);
    },
  ],
  getPet: [
    'off: getPet gets 410',
    async () => {
      const { ask } = await start({ GET_PET: 'off' });

      expect(await ask('/pets/1')).to.include({ status: 410 });
    },
  ],
  experimental: [
    'the operation is served',
    async () => {
      const { ask } = await start({ EXPERIMENTAL: 'removePet' });
      await ask('/pets', create());
      expect(await ask('/pets/1', { method: 'DELETE' })).to.include({ status: 204 });
    },
  ],
  rateLimit: [
    'a request beyond it gets 429',
    async () => {
      const { ask } = await start({ RATE_LIMIT: '1/1h' });
      expect(await ask('/pets')).to.include({ status: 200 });
      expect(await ask('/pets')).to.include({ status: 429 });
    },
  ],
  trustedProxies: [
    'the log has the address that a trusted proxy tells',
    async () => {
      const told = { headers: { 'X-Forwarded-For': '203.0.113.7' } };
      for (const [TRUSTED_PROXIES, address] of [
        ['127.0.0.0/8', '203.0.113.7'],
        ['10.0.0.0/8', '127.0.0.1'],
      ] as const) {
        const { serving, ask } = await start({ TRUSTED_PROXIES });
        await ask('/pets', told);
        await serving.io.said(/"responded"/);
        expect(serving.io.lines.at(-1), TRUSTED_PROXIES).to.include({ clientAddress: address });
      }
    },
  ],
  corsOrigins: [
    'pages of these origins may call, also for what the server itself refuses',
    async () => {
      const { ask } = await start({ CORS_ORIGINS: 'https://one.example' });
      for (const [path, more] of [
        ['/pets', {}],
        ['/pets', { 'X-Long': 'x'.repeat(20_000) }], // 431
      ] as const) {
        const { headers } = await ask(path, {
          headers: { Origin: 'https://one.example', ...more },
        });
        expect(headers.get('access-control-allow-origin')).to.equal('https://one.example');
      }
    },
  ],
  storeUrl: [
    'the animals are there',
    async () => {
      const file = join(temporaryFolder(), 'pets.db');
      await start({ STORE_URL: `sqlite:${file}` });
      expect(existsSync(file), `${file} exists`).to.equal(true);
    },
  ],
  adapters: [
    'the modules change the service',
    async () => {
      const ADAPTERS = join(temporaryFolder(), 'log.mjs');
      const load =
        "({ rebind }) => rebind(Symbol.for('animal-store.Docs')).toConstantValue(undefined)";
      writeFileSync(
        ADAPTERS,
        `export const adapter = { id: 1, load: async (options) => (${load})(options) };`,
      );
      const { origin } = await start({ ADAPTERS });
      expect(await fetch(`${origin}/docs`)).to.include({ status: 404 });
    },
  ],
  apiKeys: [
    'each key is valid',
    async () => {
      const { ask } = await start({ API_KEYS: 'one-key-of-this-test,another-key-of-it' });
      for (const [key, status] of [
        ['one-key-of-this-test', 200],
        ['another-key-of-it', 200],
        [KEY, 401],
      ] as const)
        expect(await ask('/pets', {}, key), key).to.include({ status });
    },
  ],
  apiKeysFile: [
    'each key in it is valid',
    async () => {
      const API_KEYS_FILE = join(temporaryFolder(), 'keys');
      writeFileSync(API_KEYS_FILE, 'a-key-of-a-file\n');
      const { ask } = await start({ API_KEYS_FILE });
      for (const key of ['a-key-of-a-file', KEY])
        expect(await ask('/pets', {}, key), key).to.include({ status: 200 });
    },
  ],
  storeUrlFile: [
    'the store is the one at the URL in it',
    async () => {
      const folder = temporaryFolder();
      const STORE_URL_FILE = join(folder, 'url');
      writeFileSync(STORE_URL_FILE, `sqlite:${join(folder, 'secret.db')}\n`);
      const { serving } = await start({ STORE_URL: '', STORE_URL_FILE });
      expect(serving.io.err).to.include(`animals in ${join(folder, 'secret.db')}`);
    },
  ],
  drainDelay: [
    'the stop takes as long at least',
    async () => {
      const { serving } = await start({ DRAIN_DELAY: '300ms' });
      const began = performance.now();
      expect(await serving.stop(), serving.io.err).to.equal(0);
      expect(performance.now() - began).to.be.greaterThan(290);
    },
  ],
  shutdownDeadline: [
    'a request in progress is cut off after it, sooner than with a longer one',
    async () => {
      const long = await stoppingWithin('1h');
      const short = await stoppingWithin('50ms');

      expect(await short.ended).to.deep.equal([1, 'cut off']);
      long.held.calls[0]?.resolve();
      expect(await long.ended).to.deep.equal([0, 'answered']);
    },
  ],
  logLevel: [
    'health checks are logged at debug only',
    async () => {
      for (const [LOG_LEVEL, lines] of [
        ['debug', 1],
        ['info', 0],
      ] as const) {
        const { serving, origin, ask } = await start({ LOG_LEVEL });
        await fetch(`${origin}/livez`);
        await ask('/pets');
        await serving.io.said(/"listPets"/);
        const probes = serving.io.lines.filter(({ path }) => path === '/livez');
        expect(probes, LOG_LEVEL).to.have.length(lines);
      }
    },
  ],
  logFormat: [
    'pretty is made for people',
    async () => {
      const serving = new Serving({ STORE_URL: 'memory:', API_KEYS: KEY, LOG_FORMAT: 'pretty' });
      await serving.ready();
      expect(serving.io.err).to.match(/^\[[\d:]+\] INFO: ready at http/m);
    },
  ],
};

const nameOf = (key: string): string => key.replaceAll(/[A-Z]/g, '_$&').toUpperCase();

describe('A setting has an effect in the running service:', () => {
  after(cleanUp); // of all at once: each waits for connections that fetch keeps

  const keys = Object.keys(EFFECTS) as Array<keyof typeof EFFECTS>;
  for (const key of keys) {
    const [effect, shows] = EFFECTS[key];
    const isElsewhere = !onLinux && key === 'host'; // 127.0.0.2
    (isElsewhere ? it.skip : it)(`${nameOf(key)}: ${effect}`, shows);
  }

  it('every one of the table', () => {
    expect(keys.map(nameOf)).to.have.members(SETTINGS.map(({ name }) => name));
  });
});
