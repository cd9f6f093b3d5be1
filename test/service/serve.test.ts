import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { UnavailableError, type Store } from '../../src/index.js';
import { KEY, RunningService } from './running-service.js';
import { STUCK, Shelf } from './shelf.js';

const SHELF = { STORE_URL: 'shelf:1' };

const post = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/pets`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":7}',
  });

/** A store whose lists wait until they are let go. */
function slowStore() {
  const { data } = new Shelf();
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const list: Store['pets']['list'] = async (...given) => {
    begun.resolve();
    await gate.promise;
    return data.pets.list(...given);
  };
  const { module } = new Shelf({ pets: { ...data.pets, list } });
  return { module, begun: begun.promise, letGo: gate.resolve };
}

describe('serve', () => {
  afterEach(RunningService.stopAll);

  describe('without a key of any kind', () => {
    it('issues one once, and prints it with a working curl line and steps for a browser', async () => {
      const shelf = new Shelf();
      const first = new RunningService(SHELF, { modules: [shelf.module] });
      const url = await first.ready();

      const [, key = ''] =
        /Your API key, shown only this once: (\S+)\n/.exec(first.process.out) ?? [];
      expect(first.process.out).to.include(`  curl ${url}/pets -H 'Authorization: Bearer ${key}' `);
      expect(first.process.out).to.match(/open http\S+\/docs\. Authorize with this key\./);
      expect((await post(url, key)).status).to.equal(201);
      expect(first.process.err).to.match(/"keyId":"00000000","msg":"issued a first API key"/);
      expect(first.process.err).not.to.include(key);
      expect(await first.stop()).to.equal(0);

      const second = new RunningService(SHELF, { modules: [shelf.module] });
      await second.ready();
      expect(second.process.out).to.equal('');
      expect(second.process.err).not.to.include('No API key is valid');
    });

    const refusing: ReadonlyArray<readonly [string, Record<string, string>, Partial<Store>]> = [
      ['on a host that others can reach', { HOST: '0.0.0.0' }, {}],
      ['where its output goes to the journal', { JOURNAL_STREAM: '8:1' }, {}],
      ['on a store that keeps no keys', {}, { apiKeys: undefined }],
    ];
    for (const [where, env, parts] of refusing)
      it(`exits with 2 at once and names the command that issues one, ${where}`, async () => {
        const shelf = new Shelf(parts);
        const service = new RunningService(
          { ...SHELF, DRAIN_DELAY: '20d', ...env },
          { modules: [shelf.module] },
        );

        expect(await service.code).to.equal(2);
        expect(service.process.err).to.match(
          /There is no API key: issue one .*keys issue .*API_KEYS/,
        );
        expect(service.process.out).to.equal('');
        expect(await shelf.data.apiKeys.list()).to.deep.equal([]);
        expect(shelf.closed).to.equal(1);
      });

    it('issues none if a port is taken, and names the settings to change', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const shelf = new Shelf();
      for (const env of [{ PORT: String(port) }, { ADMIN_PORT: String(port) }]) {
        const service = new RunningService({ ...SHELF, ...env }, { modules: [shelf.module] });
        expect(await service.code).to.equal(1);
        expect(service.process.err).to.match(/EADDRINUSE.*\. Set HOST or PORT, or ADMIN_PORT/);
        expect(service.process.out).to.equal('');
      }
      expect(await shelf.data.apiKeys.list()).to.deep.equal([]);
      taken.close();
    });
  });

  it('starts with static keys on any host, and warns of keys that can be guessed', async () => {
    const service = new RunningService({
      HOST: '0.0.0.0',
      DRAIN_DELAY: '0',
      API_KEYS: `short,${KEY}`,
    });
    const url = await service.ready();

    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect((await post(url, 'short')).status).to.equal(201);
    expect(service.process.out).to.equal('');
    expect(service.process.err).to.match(/fewer than 16 characters can be guessed: 1 set/);
  });

  it('warns when all keys are revoked or expired, and issues no new one', async () => {
    const shelf = new Shelf();
    await shelf.run('keys issue --name n');
    const [record] = await shelf.data.apiKeys.list();
    await shelf.run(`keys revoke ${record?.id}`);
    const service = new RunningService(SHELF, { modules: [shelf.module] });
    await service.ready();

    expect(service.process.err).to.match(/No API key is valid: all are revoked or expired/);
    expect(service.process.out).to.equal('');
  });

  it('logs changed settings, its addresses and, before the first animal, that the store is new', async () => {
    const shelf = new Shelf();
    const env = { ...SHELF, API_KEYS: `${KEY},${KEY}2` };
    const service = new RunningService(env, { modules: [shelf.module] });
    const url = await service.ready();

    const [settings, isNew, ready] = service.process.lines;
    expect(settings?.['settings']).to.deep.equal({ PORT: '0', STORE_URL: 'shelf:1', API_KEYS: 2 });
    expect(isNew?.['msg']).to.equal('the store is new: no animal was ever added to shelf 1');
    const docs = url.replace('/v1', '/docs');
    expect(ready).to.deep.include({ url, docs, store: 'shelf 1' });
    await post(url, KEY);
    await service.stop();
    const again = new RunningService(env, { modules: [shelf.module] });
    await again.ready();
    expect(again.process.err).not.to.include('store is new');
  });

  it('prints its addresses and a first key as plain text on a terminal', async () => {
    const service = new RunningService({ JOURNAL_STREAM: '8:1' }, { isTTY: true });
    const url = await service.ready();

    const docs = url.replace('/v1', '/docs');
    expect(service.process.out).to.match(
      new RegExp(`^Your API key.*^Ready at ${url}\n  docs  ${docs}\n  store memory`, 'ms'),
    );
  });

  it('starts without a reachable store, logs why, and serves once it is reachable', async () => {
    let isUp = false;
    const cause = new Error('refused by db1');
    const { module } = new Shelf({
      async check() {
        if (!isUp) throw new UnavailableError('checking', { cause });
      },
    });
    const service = new RunningService({ ...SHELF, API_KEYS: KEY }, { modules: [module] });
    const url = await service.ready();

    expect(service.process.lines.at(-1)).to.deep.include({
      level: 40,
      msg: `not yet ready at ${url}`,
      reason: 'The store is not available (checking). refused by db1',
    });
    expect((await fetch(url.replace('/v1', '/readyz'))).status).to.equal(503);
    isUp = true;
    expect((await post(url, KEY)).status).to.equal(201);
  });

  it('serves experimental operations, or exits with 2 if the store cannot change animals', async () => {
    const env = { ...SHELF, API_KEYS: KEY, EXPERIMENTAL: 'removePet' };
    const service = new RunningService(env, { modules: [new Shelf().module] });
    const url = await service.ready();
    await post(url, KEY);
    const headers = { Authorization: `Bearer ${KEY}` };
    expect((await fetch(`${url}/pets/1`, { method: 'DELETE', headers })).status).to.equal(204);

    const fixed = new RunningService(env, { modules: [new Shelf({ changes: undefined }).module] });
    expect(await fixed.code).to.equal(2);
    expect(fixed.process.err).to.match(
      /EXPERIMENTAL must be empty: the store cannot change animals/,
    );
  });

  describe('when it stops', () => {
    for (const signal of ['SIGINT', 'SIGTERM'])
      it(`exits with 0 on ${signal}, closes the store, and logs that it stops and has stopped`, async () => {
        const shelf = new Shelf();
        const service = new RunningService(
          { ...SHELF, API_KEYS: KEY },
          { modules: [shelf.module] },
        );
        const url = await service.ready();

        expect(await service.stop(signal)).to.equal(0);
        expect(shelf.closed).to.equal(1);
        const messages = service.process.lines.map(({ msg }) => msg);
        expect(messages.slice(-2)).to.deep.equal([
          `stopping: Interrupted by ${signal}.`,
          'stopped',
        ]);
        const refused: unknown = await fetch(url).catch((error: Error) => error.cause);
        expect(refused).to.include({ code: 'ECONNREFUSED' });
      });

    const headers = { Authorization: `Bearer ${KEY}` };

    it('still serves while it drains, though not ready, and finishes requests in progress', async () => {
      const { module, begun, letGo } = slowStore();
      const env = { ...SHELF, API_KEYS: KEY, DRAIN_DELAY: '1s', REQUEST_DEADLINE: '1m' };
      const service = new RunningService(env, { modules: [module] });
      const url = await service.ready();
      const inProgress = fetch(`${url}/pets`, { headers });
      await begun;
      const began = performance.now();
      const code = service.stop();

      const readiness = await fetch(url.replace('/v1', '/readyz'));
      expect(readiness.status).to.equal(503);
      expect(readiness.headers.get('connection')).to.equal('close');
      expect((await post(url, KEY)).status).to.equal(201);
      letGo();
      expect((await inProgress).status).to.equal(200);
      expect(await code).to.equal(0);
      expect(performance.now() - began).to.be.above(990);
    });

    it('exits with 1 when the deadline cuts a request off', async () => {
      const { module, begun } = slowStore();
      const env = { ...SHELF, API_KEYS: KEY, SHUTDOWN_DEADLINE: '50ms', REQUEST_DEADLINE: '1m' };
      const service = new RunningService(env, { modules: [module] });
      const cutOff = fetch(`${await service.ready()}/pets`, { headers }).catch(() => 'cut off');
      await begun;

      expect(await service.stop()).to.equal(1);
      expect(await cutOff).to.equal('cut off');
      expect(service.process.err).to.match(/some requests were cut off\.\n$/);
    });

    it('exits with 0 when it is interrupted before the store is open', async () => {
      const service = new RunningService({ STORE_URL: 'stuck:' }, { modules: [STUCK] });
      await service.process.said(/settings that differ/);

      expect(await service.stop()).to.equal(0);
    });

    it('exits with 0 when it is interrupted while it looks for a key', async () => {
      const shelf = new Shelf();
      const begun = Promise.withResolvers<void>();
      const apiKeys: Store['apiKeys'] = {
        ...shelf.data.apiKeys,
        list: ({ signal } = {}) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason as Error));
            begun.resolve();
          }),
      };
      const service = new RunningService(SHELF, { modules: [new Shelf({ apiKeys }).module] });
      await begun.promise;

      expect(await service.stop()).to.equal(0);
    });
  });

  it('serves metrics on ADMIN_PORT alone', async () => {
    const service = new RunningService({ API_KEYS: KEY, ADMIN_PORT: '0' });
    const url = await service.ready();
    await post(url, KEY);
    await fetch(url.replace('/v1', '/livez'));
    const metrics = String(service.process.lines.find((line) => line['metrics'])?.['metrics']);

    const response = await fetch(metrics);
    const text = await response.text();
    expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    const name = 'animal_store_request_duration_seconds';
    expect(text).to.include(`${name}_count{operation="createPet",status="201"} 1\n`);
    expect(text).to.include(`${name}_count{operation="health",status="200"} 1\n`);
    expect(text).to.match(/^animal_store_ready 1$/m);
    expect(text).to.match(/^animal_store_requests_in_flight 0$/m);
    expect(text).to.match(/^process_cpu_seconds_total /m);
    expect((await fetch(metrics.replace('/metrics', '/v1/pets'))).status).to.equal(404);
    expect((await fetch(url.replace('/v1', '/metrics'))).status).to.equal(404);
    await service.stop();
    expect(await fetch(metrics).catch(() => 'closed')).to.equal('closed');
  });
});
