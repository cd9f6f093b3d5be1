import { rejects } from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Container } from 'inversify';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { createLogger } from '../../../src/bootstrap/service/logger.js';
import { createContainer } from '../../../src/bootstrap/service/container.js';
import {
  addressOf,
  startService,
  type Service,
} from '../../../src/bootstrap/service/start-service.js';
import { readSettings } from '../../../src/bootstrap/service/settings.js';
import { StoreClient } from '../../service/store-client.js';
import { until } from '../../until.js';
import { Shelf, TestIo, changed, factory } from '../test-io.js';
import { TOKENS, wiring, type Adapter } from '../../../src/bootstrap/service/wiring.js';

/** A store whose lists and whose end wait until they may go on, and which notes what happened in order. */
class SlowStore {
  readonly events: string[] = [];
  readonly listing = Promise.withResolvers<void>();
  readonly mayList = Promise.withResolvers<void>();
  mayClose = Promise.resolve();
  readonly module = factory('slow', async () => {
    const { pets, check } = openMemoryStore();
    const list = async (): Promise<[]> => {
      this.listing.resolve();
      await this.mayList.promise;
      this.events.push('listed');
      return [];
    };
    const close = (): Promise<void> => {
      this.events.push('closing');
      return this.mayClose;
    };
    return { pets: changed(pets, { list }), location: 'slow', check, close };
  });
}

/** A response to a client that wants to keep its connection. */
async function ask(url: string): Promise<{ status: number; connection: unknown; body: string }> {
  const client = new StoreClient('key-of-the-test');
  const { status, headers, body } = await client.get(url).finally(() => client.close());
  return { status, connection: headers['connection'], body };
}

const origin = ({ url }: Service): string => new URL(url).origin;

const containerWith = (environment: Record<string, string>, ...modules: readonly Adapter[]) => {
  const settings = { PORT: '0', STORE_URL: 'memory:', API_KEYS: 'key-of-the-test' };
  return createContainer(readSettings({ ...settings, ...environment }), modules);
};

describe('The service', () => {
  let store: SlowStore;
  const services: Service[] = [];
  beforeEach(() => {
    store = new SlowStore();
  });
  afterEach(async () => {
    store.mayList.resolve();
    for (const service of services.splice(0)) await service.stop(0);
  });

  async function startIn(container: Container): Promise<Service> {
    const service = await startService(container);
    services.push(service);
    return service;
  }

  async function start(
    environment: Record<string, string> = {},
    { module }: Shelf | SlowStore = store,
  ): Promise<Service> {
    return startIn(await containerWith({ STORE_URL: 'slow:', ...environment }, module));
  }

  for (const [HOST, address] of [
    ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+\/v1$/],
    ['::1', /^http:\/\/\[::1\]:\d+\/v1$/],
    ['::', /^http:\/\/\[::1\]:\d+\/v1$/],
  ] as const) {
    it(`on ${HOST} has an address that works on this machine`, async function () {
      const service = await start({ HOST }).catch((error: NodeJS.ErrnoException) => {
        if (HOST.includes(':') && /^EA(?:DDRNOTAVAIL|FNOSUPPORT)$/.test(error.code ?? ''))
          this.skip();
        throw error;
      });
      expect(service.url).to.match(address);
      expect(await ask(`${origin(service)}/livez`)).to.include({ status: 200 });
    });
  }

  it('says that it cannot listen on a host that is no address, whatever its name', async () => {
    for (const HOST of ['constructor', '__proto__', 'toString']) {
      await rejects(start({ HOST, STORE_URL: 'shelf:' }, new Shelf()), {
        syscall: 'getaddrinfo',
        hostname: HOST,
      });
      expect(addressOf(HOST), 'its address if it is one').to.equal(HOST);
    }
  });

  it('logs its responses, what the store says, and that a store in memory has no key', async () => {
    const io = new TestIo();
    const saying = factory('memory', async (_, options) => {
      options?.onNotice?.('half full');
      return openMemoryStore();
    });
    const container = await containerWith({ API_KEYS: '', LOG_FORMAT: 'json' }, saying);
    wiring(container).replaceFrom(TOKENS.logger, (context) =>
      createLogger(context.get(TOKENS.settings), io.io.stderr),
    );
    const service = await startIn(container);

    expect(await ask(`${service.url}/pets`)).to.include({ status: 401 });
    expect(io.lines.map(({ level, msg, status }) => [level, msg, status])).to.deep.equal([
      [40, 'store: half full', undefined],
      [40, 'without API_KEYS, the only API keys are those that this process issues', undefined],
      [30, 'responded', 401],
    ]);
  });

  it('tells its admission of connections that do not read what was sent to them', async () => {
    const container = await containerWith({});
    const { pets } = await container.getAsync(TOKENS.store);
    const name = '🐈'.repeat(1000);
    for (let count = 0; count < 100; count += 1)
      await pets.add({ name, categoryId: 1n, status: 'sold' });
    const service = await startIn(container);
    const { hostname, port } = new URL(service.url);
    const head = 'Host: a\r\nAuthorization: Bearer key-of-the-test\r\n\r\n';
    const sockets = Array.from({ length: 4 }, () => {
      const socket = connect(Number(port), hostname)
        .on('error', () => {})
        .pause();
      socket.write(`GET /v1/pets?limit=100 HTTP/1.1\r\n${head}`.repeat(20));
      return socket;
    });
    const admission = await container.getAsync(TOKENS.admission);
    const counted = until('unread bytes are counted', () => admission.unsent > 0);
    await counted.finally(() => sockets.forEach((socket) => socket.destroy()));
  });

  it('has no docs page without its files, as in a bundle', async () => {
    const container = await containerWith({});
    wiring(container).replace(TOKENS.docs, undefined);
    const service = await startIn(container);

    expect(await ask(service.docsUrl)).to.include({ status: 404 });
    expect(await ask(`${origin(service)}/openapi.json`)).to.include({ status: 200 });
  });

  it('stops in order: not ready, connections closed, requests in flight finished, store closed', async () => {
    const service = await start({ DRAIN_DELAY: '300ms' });
    expect(await ask(`${origin(service)}/readyz`)).to.include({
      status: 200,
      connection: 'keep-alive',
    });

    const inFlight = ask(`${service.url}/pets`);
    await store.listing.promise;
    const began = performance.now();
    const stopped = service.stop();
    const paths = ['/readyz', '/livez'];
    const [ready, alive] = await Promise.all(paths.map((path) => ask(origin(service) + path)));

    expect(ready).to.include({ status: 503, connection: 'close' });
    expect(alive).to.include({ status: 200, connection: 'close' });

    while (await ask(`${origin(service)}/livez`).catch(() => false)); // it listens no more: the delay is over
    expect(performance.now() - began, 'milliseconds for which it listens').to.be.above(290);
    await delay(50); // time to cut off what it must not
    store.mayList.resolve();

    expect(await inFlight).to.deep.equal({ status: 200, connection: 'close', body: '[]' });
    expect(await stopped, 'all finished in time').to.equal(true);
    expect(store.events).to.deep.equal(['listed', 'closing']);
    await rejects(ask(`${origin(service)}/livez`), { code: 'ECONNREFUSED' });
  });

  it('stops at the end of the block that declares it with `await using`', async () => {
    {
      await using service = await start();
      expect(await ask(`${origin(service)}/livez`)).to.include({ status: 200 });
    }
    expect(store.events).to.deep.equal(['closing']);
  });

  it('starts no second service with a container, whose store closes with the first', async () => {
    const container = await createContainer(
      readSettings({ STORE_URL: 'memory:', PORT: '0', API_KEYS: 'a-key-of-16-chars' }),
    );
    const first = await startService(container);
    await first.stop(0);

    await rejects(startService(container), /a container starts one service: create another/);
  });

  it('starts although its store never says whether it is a whole copy', async () => {
    const transfer = changed(openMemoryStore().transfer, {
      isUnfinished: (call) =>
        new Promise((_, reject) => call?.signal?.addEventListener('abort', reject)),
    });
    await start({ STORE_URL: 'shelf:' }, new Shelf({ transfer }));
  });

  it('says why it cannot start although its store cannot be closed either', async () => {
    const { port } = new URL((await start({ STORE_URL: 'shelf:' }, new Shelf())).url);
    store.mayClose = Promise.reject(new Error('unplugged'));
    store.mayClose.catch(() => {});

    await rejects(start({ PORT: port }), { code: 'EADDRINUSE' });
    expect(store.events).to.deep.equal(['closing']);

    store.mayClose = Promise.resolve();
  });

  it('waits no longer than the deadline for a store that does not close', async () => {
    const closing = Promise.withResolvers<void>();
    store.mayClose = closing.promise;
    const service = await start({ SHUTDOWN_DEADLINE: '50ms' });

    expect(await service.stop(0), 'all finished in time').to.equal(false);

    closing.resolve();
  });
});
