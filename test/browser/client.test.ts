import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type * as Client from '../../src/adapters/http/client/index.js';
import type { Service } from '../../src/bootstrap/service/start-service.js';
import { describeInChromium } from './chromium.js';
import { KEY, startStore } from './docs-page.js';

const BUILT = new URL('../../src/', import.meta.url);

/** The origin of the page. It serves the built modules. */
async function startOrigin(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    if (pathname === '/')
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>A shop</title>');
    else {
      readFile(new URL(pathname.replace(/^\/built\//, ''), BUILT)).then(
        (source) => response.setHeader('Content-Type', 'text/javascript').end(source),
        () => response.writeHead(404).end(),
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Loads the client in a page as it was built: no bundler has touched it. */
async function openPage(page: Page, origin: string): Promise<Page> {
  await page.goto(origin);
  await page.evaluate(async (entry) => {
    Object.assign(globalThis, await import(entry));
  }, '/built/adapters/http/client/index.js');
  return page;
}

describeInChromium('AnimalStoreClient in a page of another origin than the service', (browser) => {
  let server: Server;
  let origin: string;
  let service: Service;
  let page: Page;
  const complaints: string[] = [];
  const options = (baseUrl = service.url) => ({ baseUrl, apiKey: KEY });

  before(async () => {
    server = await startOrigin();
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    service = await startStore({ CORS_ORIGINS: origin });
    page = await browser().newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    await openPage(page, origin);
  });
  after(async () => {
    expect(complaints).to.deep.equal([]);
    await service.stop(0);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('creates, gets and lists animals exact to the digit, and reads the headers of pages, replays and errors', async () => {
    const result = await page.evaluate(async (options) => {
      const store = new AnimalStoreClient({ ...options, fetch });
      const replays: boolean[] = [];
      for (const key of ['one', 'two', 'two']) {
        const animal = { name: key, categoryId: 2n ** 63n - 1n };
        const created = await store.createPet(animal, { idempotencyKey: { key } });
        replays.push(created.replayed);
      }
      const listed = [];
      for await (const pet of store.allPets({ status: 'available', limit: 1 })) listed.push(pet);
      const stranger = new AnimalStoreClient({ ...options, apiKey: 'another-key' });
      const { requestId = '' } = (await stranger
        .listPets()
        .catch((error: Client.ServiceError) => error)) as Client.ServiceError;
      return { replays, listed, got: await store.getPet(2n), requestId: requestId.length };
    }, options());
    const [one, two] = ['one', 'two'].map((name, index) => {
      return { id: BigInt(index + 1), name, categoryId: 9223372036854775807n, status: 'available' };
    });
    const replays = [false, false, true];
    expect(result).to.deep.equal({ replays, listed: [one, two], got: two, requestId: 36 });
  });

  it('is unavailable where the service does not allow the origin', async () => {
    const stranger = await openPage(await browser().newPage(), origin.replace('127.0.0.1', 'localhost'));
    const refused = await stranger.evaluate(async (options) => {
      const store = new AnimalStoreClient({ ...options, retries: 0 });
      return store.listPets().catch((error: Error) => [error.message, error.cause instanceof TypeError]);
    }, options());
    const message = `The store is not available (reaching ${new URL(service.url).origin}).`;
    expect(refused).to.deep.equal([message, true]);
  });
});

declare global {
  /** As `openPage` loads it. */
  var AnimalStoreClient: typeof Client.AnimalStoreClient;
}
