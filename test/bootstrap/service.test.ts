import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { createContainer } from '../../src/bootstrap/container.js';
import { provideValue } from '../../src/bootstrap/provide.js';
import { startService, type Service } from '../../src/bootstrap/service.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { TOKENS } from '../../src/bootstrap/tokens.js';
import type {
  DeprecatedCallBatch,
  DeprecatedCallRepository,
} from '../../src/application/ports/deprecated-call-repository.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { Pet } from '../../src/domain/pet.js';

/** A store whose lists wait until they are let go, and which tells what happened to it, in order. */
class SlowStore {
  readonly events: string[] = [];
  readonly pets: PetRepository;
  /** Tells of what it is given, and takes it when it is let. */
  readonly deprecatedCalls: DeprecatedCallRepository;
  readonly recording = Promise.withResolvers<void>();
  readonly listing = Promise.withResolvers<void>();
  readonly letGo = Promise.withResolvers<void>();
  readonly closing = Promise.withResolvers<void>();

  constructor() {
    const list = async (): Promise<readonly Pet[]> => {
      this.listing.resolve();
      await this.letGo.promise;
      this.events.push('listed');
      return [];
    };
    this.deprecatedCalls = Object.assign(new MemoryDeprecatedCallRepository(), {
      record: async ({ counts }: DeprecatedCallBatch) => {
        for (const { keyId, calls } of counts) this.events.push(`${calls} by ${keyId.slice(0, 7)}`);
        await this.recording.promise;
        this.events.push('recorded');
      },
    });
    this.recording.resolve();
    this.pets = Object.assign(new MemoryPetRepository(), { list });
    this.closing.resolve();
  }

  readonly module = new ContainerModule((options) =>
    provideValue(options, TOKENS.storeFactory, {
      scheme: 'slow',
      open: async () => ({
        pets: this.pets,
        deprecatedCalls: this.deprecatedCalls,
        location: 'slow',
        close: () => this.#close(),
      }),
    }),
  );

  async #close(): Promise<void> {
    this.events.push('closing');
    await this.closing.promise;
  }
}

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
}

/** By a client that would keep its connection. */
async function ask(url: string): Promise<Answer> {
  const agent = new Agent({ keepAlive: true });
  const request = get(url, { headers: { Authorization: 'Bearer key-of-the-test' }, agent });
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { statusCode: status, headers } = response;
    return { status, connection: headers.connection, body: await text(response) };
  } finally {
    agent.destroy();
  }
}

const origin = ({ url }: Service): string => new URL(url).origin;

describe('The service', () => {
  let store: SlowStore;
  const services: Service[] = [];
  const servers: Server[] = [];

  beforeEach(() => {
    store = new SlowStore();
  });
  afterEach(async () => {
    store.letGo.resolve();
    for (const service of services.splice(0)) await service.stop(0);
    for (const server of servers.splice(0)) server.close();
  });

  async function start(environment: Readonly<Record<string, string>> = {}): Promise<Service> {
    const settings = readSettings({
      PORT: '0',
      STORE_URL: 'slow:',
      API_KEYS: 'key-of-the-test',
      ...environment,
    });
    const service = await startService(await createContainer(settings, [store.module]));
    services.push(service);
    return service;
  }

  describe('says where its operations are, by an address that works on this machine:', () => {
    const ADDRESSES: ReadonlyArray<readonly [host: string, address: RegExp]> = [
      ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+\/v1$/],
      ['localhost', /^http:\/\/localhost:\d+\/v1$/],
      ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+\/v1$/],
      ['::1', /^http:\/\/\[::1\]:\d+\/v1$/],
      ['::', /^http:\/\/\[::1\]:\d+\/v1$/],
    ];
    for (const [HOST, address] of ADDRESSES) {
      it(HOST, async function () {
        const service = await start({ HOST }).catch((error: NodeJS.ErrnoException) => {
          if (HOST.includes(':') && /^EA(?:DDRNOTAVAIL|FNOSUPPORT)$/.test(error.code ?? '')) this.skip();
          throw error;
        });
        expect(service.url).to.match(address);
        store.letGo.resolve();
        expect(await ask(`${service.url}/pets`)).to.include({ status: 200, body: '[]' });
      });
    }

    it('with the base path', async () => {
      expect((await start({ BASE_PATH: '/animals/v1' })).url).to.match(/:\d+\/animals\/v1$/);
    });

    it('and where its docs page is', async () => {
      const { url, docsUrl } = await start({ BASE_PATH: '/animals/v1' });
      expect(docsUrl).to.equal(new URL('/docs', url).href);
      expect(await ask(docsUrl)).to.include({ status: 200 });
    });
  });

  it('closes the store again when the port is taken', async () => {
    const server = createServer();
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await rejects(start({ PORT: String(port) }), { code: 'EADDRINUSE' });
    expect(store.events).to.deep.equal(['closing']);
  });

  it('stops in order: not ready, answers close connections, requests in flight are answered, then the store', async () => {
    const service = await start();
    expect(await ask(`${origin(service)}/readyz`)).to.include({ status: 200, connection: 'keep-alive' });
    const inFlight = ask(`${service.url}/pets`);
    await store.listing.promise;

    const stopped = service.stop(500);
    expect(await ask(`${origin(service)}/readyz`)).to.include({ status: 503, connection: 'close' });
    expect(await ask(`${origin(service)}/livez`)).to.include({ status: 200, connection: 'close' });
    store.letGo.resolve();
    expect(await inFlight).to.deep.equal({ status: 200, connection: 'close', body: '[]' });
    expect(await stopped).to.equal(true);
    expect(store.events).to.deep.equal(['listed', 'closing']);
    await rejects(ask(`${origin(service)}/livez`), { code: 'ECONNREFUSED' });
  });

  it('takes requests for as long as the settings say before it stops', async () => {
    const service = await start({ DRAIN_DELAY: '200ms' });
    const began = performance.now();
    expect(await service.stop()).to.equal(true);
    expect(performance.now() - began).to.be.within(195, 10_000);
  });

  it('cuts off what is not answered by the deadline, and closes the store all the same', async () => {
    const service = await start({ SHUTDOWN_DEADLINE: '50ms', REQUEST_DEADLINE: '1m' });
    const inFlight = ask(`${service.url}/pets`).catch((error: NodeJS.ErrnoException) => error.code);
    await store.listing.promise;
    expect(await service.stop(0)).to.equal(false);
    expect(await inFlight).to.equal('ECONNRESET');
    expect(store.events).to.deep.equal(['closing']);
  });

  it('brings the counts of deprecated calls to the store after the last answer, and before it closes the store', async () => {
    const service = await start();
    const inFlight = ask(`${service.url}/pets`);
    await store.listing.promise;
    const stopped = service.stop(300);
    for (const id of ['1', 'x', '1']) expect((await ask(`${service.url}/pets/${id}`)).status).to.equal(404);
    store.letGo.resolve();
    await inFlight;
    expect(await stopped).to.equal(true);
    expect(store.events).to.deep.equal(['listed', '3 by static-', 'recorded', 'closing']);
  });

  it('waits no longer than the deadline for a store that takes no counts, and closes it all the same', async () => {
    const recording = Promise.withResolvers<void>();
    Object.assign(store, { recording });
    const service = await start({ SHUTDOWN_DEADLINE: '50ms' });
    expect((await ask(`${service.url}/pets/1`)).status).to.equal(404);
    const began = performance.now();
    expect(await service.stop(0)).to.equal(false);
    expect(performance.now() - began).to.be.below(5_000);
    expect(store.events).to.deep.equal(['1 by static-', 'closing']);
    recording.resolve();
  });

  it('waits no longer than the deadline for a store that does not close', async () => {
    const closing = Promise.withResolvers<void>();
    Object.assign(store, { closing });
    const service = await start({ SHUTDOWN_DEADLINE: '50ms' });
    expect(await service.stop(0)).to.equal(false);
    closing.resolve();
  });
});
