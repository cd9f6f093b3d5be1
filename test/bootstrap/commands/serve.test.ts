import { expect } from 'chai';
import { once } from 'node:events';
import { apiKeyGenerator } from '../../../src/adapters/api-keys/api-key.js';
import { ManagedApiKeys } from '../../../src/application/manage-api-keys.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import type { CallOptions } from '../../../src/application/animal-store.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import type { Store } from '../../../src/application/ports/store.js';
import { run } from '../../../src/bootstrap/commands/run.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { StoreClient, statusOf } from '../../service/store-client.js';
import { KEY, Serving, Shelf, TestIo, changed, factory } from '../test-io.js';
import { TOKENS, type Adapter, type Wiring } from '../../../src/bootstrap/service/wiring.js';

const serve = (environment: Record<string, string> = {}, ...modules: Adapter[]): Serving =>
  new Serving({ STORE_URL: 'shelf:', ...environment }, ...modules);

/** Resolves when the service is ready. */
async function started(environment: Record<string, string> = {}, ...modules: Adapter[]) {
  const serving = serve(environment, ...modules);
  return { serving, io: serving.io, url: await serving.ready() };
}

const throwFull = () => {
  throw new Error('the log is full');
};

describe('serve', () => {
  afterEach(() => Serving.stopAll());

  it('logs where it is ready, and when and that it stops, and ends with 0', async () => {
    const shelf = new Shelf();
    const { serving, io, url } = await started(
      { API_KEYS: KEY, BASE_PATH: '/animals/v1' },
      shelf.module,
    );

    expect(url).to.match(/:\d+\/animals\/v1$/);

    const docs = new URL('/docs', url).href;
    expect(await statusOf(docs), docs).to.equal(200);
    expect(await serving.stop(), io.err).to.equal(0);
    expect(io.out).to.equal('');
    expect(io.messages.slice(1)).to.deep.equal([
      `ready at ${url}, docs at ${docs}, animals in shelf 1`,
      'responded',
      'stopping on SIGTERM',
      'stopped',
    ]);
    expect(io.lines[1]).to.include({ url, docs, store: 'shelf 1' });
    expect(shelf.closed, 'times that the store was closed').to.equal(1);
  });

  it('takes --host, --port and --store in place of settings, and refuses empty ones', async () => {
    const shelf = new Shelf();
    const taken = new URL(await serve({ API_KEYS: KEY, STORE_URL: 'memory:' }).ready()).port;
    const others = { API_KEYS: KEY, HOST: '192.0.2.1', PORT: taken, STORE_URL: 'none:' };
    for (const line of [
      '--host localhost --port 0 --store shelf:',
      '--host=::1 --port=0 --store=shelf:',
    ]) {
      const io = new TestIo(others);
      const code = run(['serve', ...line.split(' ')], io.io, [shelf.module]);
      const [, url = ''] = await io.said(/ready at (http[^\s,]+).*animals in shelf/);
      expect(await statusOf(`${url}/pets`, KEY), line).to.equal(200);
      io.emit('SIGTERM', 'SIGTERM');
      expect(await code, io.err).to.equal(0);
    }
    for (const option of ['--host', '--port', '--store']) {
      const io = new TestIo({ STORE_URL: 'shelf:' });
      expect(await run(['serve', option, ''], io.io, [shelf.module]), option).to.equal(2);
      expect(io.err).to.match(new RegExp(`option '${option} <\\w+>' must not be empty`));
    }

    expect(shelf.opened, 'by the two that were complete').to.have.length(2);
  });

  it('prints a first key on stdout, accepts it, and prints none at a later start', async () => {
    const shelf = new Shelf();
    const first = serve({}, shelf.module);
    const url = await first.ready();
    const [key = ''] = /ast_live_\w+/.exec(first.io.out) ?? [];

    expect(first.io.out).to.include(`curl ${url}/pets -H 'Authorization: Bearer ${key}' `);
    expect(first.io.out).to.include(` open ${new URL('/docs', url).href} `);
    expect(first.io.out.match(/\n/g), 'four lines').to.have.length(4);
    expect(await statusOf(`${url}/pets`, key), `${url}/pets`).to.equal(200);
    expect(await first.stop('SIGINT'), first.io.err).to.equal(0);
    expect(first.io.err).to.not.include(key);

    const second = serve({}, shelf.module);
    await second.ready();

    expect(second.io.out).to.equal('');
  });

  it('refuses the target of a copy that has not finished, and serves it when it has', async () => {
    const store = openMemoryStore();
    await store.transfer.markUnfinished(true);
    const refused = serve({}, new Shelf({ ...store, location: 'shelf 1' }).module);

    expect(await refused.code, refused.io.err).to.equal(1);
    expect(refused.io.err).to.equal(
      'The store shelf 1 is a copy that has not finished: copy again, to a new store.\n',
    );

    await store.transfer.markUnfinished(false);
    await serve({}, new Shelf({ ...store }).module).ready();
  });

  it('issues no first key when stopped, and revokes one that could not be printed', async () => {
    const { apiKeys } = openMemoryStore();
    const listing = Promise.withResolvers<void>();
    const list = async (call?: CallOptions) => {
      listing.resolve();
      await once(call?.signal ?? new EventTarget(), 'abort');
      return apiKeys.list();
    };
    const stopped = serve({}, new Shelf({ apiKeys: changed(apiKeys, { list }) }).module);
    await listing.promise;

    expect(await stopped.stop(), stopped.io.err).to.equal(0);
    expect([stopped.io.out, await apiKeys.list()]).to.deep.equal(['', []]);
    expect(stopped.io.messages).to.deep.equal(['stopping on SIGTERM', 'stopped']);

    const unseen = serve({}, new Shelf({ apiKeys }).module);
    unseen.io.fullDisk = new Error('write ENOSPC');

    expect(await unseen.code, unseen.io.err).to.equal(1);

    const managed = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() });
    expect((await managed.list()).map(({ state }) => state)).to.deep.equal(['revoked']);
    expect(unseen.io.err).to.match(
      /^Key \w{8} was revoked, because nobody has seen it: issue one with /m,
    );
  });

  it('issues no key beside an authenticator of others', async () => {
    const { io } = await started({}, new Shelf().module, ({ replace }) =>
      replace(TOKENS.authenticator, { authenticate: () => Promise.reject(new Error()) }),
    );
    expect(io.out).to.equal('');
  });

  it('issues no key where all are revoked, and warns that none is valid', async () => {
    const { apiKeys } = openMemoryStore();
    const managed = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() });
    await managed.revoke((await managed.issue({ name: 'shop', scopes: SCOPES })).record.id);
    for (const HOST of ['127.0.0.1', '0.0.0.0']) {
      const { io } = await started({ HOST, DRAIN_DELAY: '0' }, new Shelf({ apiKeys }).module);
      expect(io.out).to.equal('');
      expect(io.messages).to.include(
        'no API key is valid: all are revoked or expired, issue one with keys issue',
      );
    }
  });

  it('refuses to start without a key where others reach it, and closes the store', async () => {
    const shelf = new Shelf();
    const serving = serve({ HOST: '0.0.0.0' }, shelf.module);

    expect(await serving.code, serving.io.err).to.equal(2);
    expect(serving.io.err).to.equal(
      'There is no API key: issue one with the command keys issue and the same STORE_URL, or set API_KEYS.\n',
    );
    expect([serving.io.out, shelf.closed]).to.deep.equal(['', 1]);

    for (const other of [
      serve({ HOST: '0.0.0.0', STORE_URL: 'memory:' }),
      serve({}, new Shelf({ apiKeys: undefined }).module),
    ]) {
      expect(await other.code, other.io.err).to.equal(2);
      expect(other.io.err).to.equal('There is no API key: set API_KEYS.\n');
    }
  });

  it('ends with 1 and one line when it cannot listen, and has issued no key', async () => {
    const { port } = new URL(await serve({ API_KEYS: KEY, STORE_URL: 'memory:' }).ready());
    const { apiKeys } = openMemoryStore();
    const shelf = new Shelf({ apiKeys });
    for (const [address, why] of [
      [{ HOST: '192.0.2.1' }, 'EADDRNOTAVAIL[^\n]*192\\.0\\.2\\.1'],
      [{ PORT: port }, `EADDRINUSE[^\n]*:${port}. Set HOST and PORT`],
      [{ ADMIN_PORT: port }, `EADDRINUSE[^\n]*:${port}. Set HOST and PORT`],
    ] as const) {
      const serving = serve(address, shelf.module);
      expect(await serving.code, serving.io.err).to.equal(1);
      expect(serving.io.err).to.match(new RegExp(`^[^\n]*${why}[^\n]*\n$`));
      expect([serving.io.out, await apiKeys.list()]).to.deep.equal(['', []]);
    }

    expect(shelf.closed, 'times that the store was closed').to.equal(3);
  });

  it('starts while its store is unreachable, not ready, and logs the cause once', async () => {
    const cause = new Error('connect ECONNREFUSED', { cause: new Error('connect ECONNREFUSED') });
    const fail = () => Promise.reject(new UnavailableError('reaching the store', { cause }));
    const pets = { add: fail, addOnce: fail, findById: fail, list: fail, revoke: fail };
    const shelf = factory('shelf', async (_, options): Promise<Store> => {
      options?.onNotice?.('not prepared yet: connect ECONNREFUSED', 'warn');
      options?.onNotice?.('made an index', 'info');
      return { pets, apiKeys: pets, location: 'shelf 1', check: fail, close: async () => {} };
    });
    const { io, url } = await started({}, shelf);

    expect(io.messages.slice(0, -2)).to.deep.equal([
      'store: not prepared yet: connect ECONNREFUSED',
      'store: made an index',
      'the store is unreachable: its API keys are unknown',
    ]);
    expect(io.lines.map(({ level }) => level)).to.deep.equal([40, 30, 40, 30, 40]);
    expect(io.messages.at(-1)).to.match(/^not yet ready at http/);
    expect(io.err.match(/ECONNREFUSED/g)).to.have.length(1);
    expect(io.out).to.equal('');
    expect(await statusOf(new URL('/livez', url).href), 'alive').to.equal(200);
    expect(await statusOf(new URL('/readyz', url).href), 'ready').to.equal(503);
  });

  it('warns of static keys that can be guessed, without quoting them', async () => {
    const { io } = await started({
      API_KEYS: 'fifteen-letters,sixteen-letters-,short',
      STORE_URL: 'memory:',
    });
    const [warning] = io.messages;

    expect(warning).to.equal('static API keys of fewer than 16 characters can be guessed: 2 set');
    expect(io.err).to.not.include('letters').and.not.include('short');
  });

  it('warns of a store without idempotency keys, also where requests are measured', async () => {
    const { pets } = openMemoryStore();
    const keyless = new Shelf({ pets: { ...pets, addOnce: undefined } });
    const { io } = await started(
      { API_KEYS: KEY, STORE_URL: 'shelf:', ADMIN_PORT: '0' },
      keyless.module,
    );

    expect(io.messages[0]).to.equal(
      'the store keeps no idempotency keys: requests with one get 400',
    );
  });

  it('logs which settings differ from their defaults', async () => {
    const { io } = await started({ API_KEYS: KEY, CORS_ORIGIN: '*' }, new Shelf().module);

    expect(io.lines[0]).to.include({
      level: 30,
      msg: 'settings that differ from their defaults: PORT=0, STORE_URL=shelf:, API_KEYS=1',
    });
  });

  it('logs every response, and no key, body or query', async () => {
    const { io, url } = await started({
      API_KEYS: 'the-good-key-of-this-test',
      STORE_URL: 'memory:',
    });
    const client = new StoreClient('the-good-key-of-this-test', false);
    await client.add(url, 'in-the-body');
    await client.get(`${url}/pets?limit=in-the-query`);
    await statusOf(`${url}/pets`, 'the-bad-key-of-this-test');
    const responses = io.lines.filter(({ msg }) => msg === 'responded');

    expect(
      responses.map(({ method, path, status, code }) => [method, path, status, code]),
    ).to.deep.equal([
      ['POST', '/v1/pets', 201, undefined],
      ['GET', '/v1/pets', 400, 'invalid_parameter'],
      ['GET', '/v1/pets', 401, 'invalid_api_key'],
    ]);
    expect(io.err).to.not.match(/the-good-key|the-bad-key|in-the-body|in-the-query/);
  });

  it('is stopped by a signal while its store opens, without waiting for it', async () => {
    const opening = Promise.withResolvers<void>();
    const serving = serve(
      {},
      factory('shelf', () => new Promise(() => opening.resolve())),
    );
    await opening.promise;

    expect(await serving.stop(), serving.io.err).to.equal(0);
    expect(serving.io.exits).to.deep.equal([0]);
  });

  it('cuts off requests at the deadline, closes the store, and ends with 1', async () => {
    const asked = Promise.withResolvers<void>();
    const endless = ({ replace }: Wiring) =>
      replace(TOKENS.authenticator, {
        authenticate: () => new Promise(() => asked.resolve()),
      });
    const shelf = new Shelf();
    const { serving, io, url } = await started(
      { SHUTDOWN_DEADLINE: '50ms', REQUEST_DEADLINE: '1m' },
      shelf.module,
      endless,
    );
    const cutOff = statusOf(`${url}/pets`, 'any').catch(() => 'cut off');
    await asked.promise;

    expect(await serving.stop(), io.err).to.equal(1);
    expect(io.messages).to.include('stopped; some requests were cut off');
    expect([await cutOff, shelf.closed]).to.deep.equal(['cut off', 1]);
  });

  it('stops the service again if it fails when it is ready', async () => {
    const shelf = new Shelf();

    const serving = serve({ API_KEYS: KEY }, shelf.module, ({ decorate }) =>
      decorate(TOKENS.logger, (logger) => logger && changed(logger, { info: throwFull })),
    );

    expect(await serving.code, serving.io.err).to.equal(1);
    expect(serving.io.err).to.equal('the log is full\n');
    expect(shelf.closed, 'times that the store was closed').to.equal(1);
  });

  it('logs that it stopped once its metrics cannot be read any more', async () => {
    const { serving, io } = await started({
      API_KEYS: KEY,
      STORE_URL: 'memory:',
      ADMIN_PORT: '0',
    });
    const metrics = String(io.lines[1]?.['metrics']);
    let asked: Promise<unknown> = Promise.resolve('not asked');
    io.on('written', () => {
      if (io.messages.at(-1) === 'stopped') asked = statusOf(metrics).catch(({ code }) => code);
    });

    await serving.stop();

    expect(await asked, 'what reading the metrics led to').to.equal('ECONNREFUSED');
  });

  it('loads its own log before the adapters, which may replace it', async () => {
    const seen: unknown[] = [];
    const adapter = ({ bind, replace }: Wiring) => {
      replace(TOKENS.httpLog, { responded: ({ status }) => void seen.push(status) });
      bind(TOKENS.storeFactory, { scheme: 'shelf', open: async () => openMemoryStore() });
    };
    const url = await serve({ API_KEYS: KEY }, adapter).ready();
    await statusOf(`${url}/pets/1`, KEY);

    expect(seen).to.deep.equal([404]);
  });
});
