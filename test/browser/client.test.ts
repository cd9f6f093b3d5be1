import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type * as Client from '../../src/adapters/http/client/index.js';
import { createContainer } from '../../src/bootstrap/container.js';
import { startService, type Service } from '../../src/bootstrap/service.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { describeInChromium } from './chromium.js';

type ClientModule = typeof Client;

const KEY = 'a-key-of-the-browser-tests';
const BUILT = new URL('../../src/', import.meta.url);
/** The client as it was built, below the origin of the page: no bundler has touched it. */
const ENTRY = '/built/adapters/http/client/index.js';

/** The origin that the page is from: it serves the modules as they were built, and answers that are none. */
async function startOrigin(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    if (pathname === '/')
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>A shop</title>');
    else if (pathname === '/moved/v1/pets') response.writeHead(302, { Location: '/' }).end();
    else if (pathname !== '/silent/v1/pets') {
      readFile(new URL(pathname.replace(/^\/built\//, ''), BUILT)).then(
        (source) => response.setHeader('Content-Type', 'text/javascript').end(source),
        () => response.writeHead(404).end(),
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const startStore = async (settings: Readonly<Record<string, string>>): Promise<Service> =>
  startService(
    await createContainer(
      readSettings({ PORT: '0', STORE_URL: 'memory:', API_KEYS: KEY, LOG_LEVEL: 'silent', ...settings }),
    ),
  );

describeInChromium('AnimalStoreClient in a page of another origin than the service', (browser) => {
  let server: Server;
  let origin: string;
  let service: Service;
  let page: Page;
  let complaints: string[];

  before(async () => {
    server = await startOrigin();
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    page = await (await browser().newContext()).newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(origin);
  });
  beforeEach(async () => {
    complaints = [];
    service = await startStore({ CORS_ORIGINS: origin });
  });
  afterEach(async () => {
    await service.stop(0);
    expect(complaints).to.deep.equal([]);
  });
  after(async () => {
    await page.context().close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('creates an animal with the largest int64, gets it and lists it, to the digit', async () => {
    const result = await page.evaluate(
      async ({ entry, baseUrl, apiKey }) => {
        const { AnimalStoreClient }: ClientModule = await import(entry);
        const store = new AnimalStoreClient({ baseUrl, apiKey });
        const { pet, replayed } = await store.createPet({ name: 'Zoë 🐕', categoryId: 2n ** 63n - 1n });
        return { pet, replayed, got: await store.getPet(pet.id), listed: (await store.listPets()).pets };
      },
      { entry: ENTRY, baseUrl: service.url, apiKey: KEY },
    );
    const pet = { id: 1n, name: 'Zoë 🐕', categoryId: 9223372036854775807n, status: 'available' };
    expect(result).to.deep.equal({ pet, replayed: false, got: pet, listed: [pet] });
  });

  it('meets all animals over all pages, and sees replays', async () => {
    const result = await page.evaluate(
      async ({ entry, baseUrl, apiKey }) => {
        const { AnimalStoreClient }: ClientModule = await import(entry);
        const store = new AnimalStoreClient({ baseUrl, apiKey, fetch });
        const request = { scope: 'page', token: 'a-token' };
        const replays: boolean[] = [];
        for (const token of ['one', 'two', 'two']) {
          const created = await store.createPet(
            { name: token, categoryId: 1, status: 'sold' },
            { request: { ...request, token } },
          );
          replays.push(created.replayed);
        }
        const names: string[] = [];
        for await (const { name } of store.allPets({ status: 'sold', limit: 1 })) names.push(name);
        return { replays, names };
      },
      { entry: ENTRY, baseUrl: service.url, apiKey: KEY },
    );
    expect(result).to.deep.equal({ replays: [false, false, true], names: ['one', 'two'] });
  });

  it('can read what comes in headers: of deprecations, and the request id of an error', async () => {
    const result = await page.evaluate(
      async ({ entry, baseUrl, apiKey }) => {
        const { AnimalStoreClient, ServiceError }: ClientModule = await import(entry);
        const told: unknown[] = [];
        const store = new AnimalStoreClient({ baseUrl, apiKey, onDeprecated: (notice) => told.push(notice) });
        const missing = await store.getPet(404n).catch((error: unknown) => error);
        const stranger = new AnimalStoreClient({ baseUrl, apiKey: 'another-key' });
        const refused = await stranger.listPets().catch((error: unknown) => error);
        return {
          told,
          missing: missing instanceof Error && missing.name,
          refused: refused instanceof ServiceError && [refused.code, refused.status, refused.requestId],
        };
      },
      { entry: ENTRY, baseUrl: service.url, apiKey: KEY },
    );
    expect(result.told).to.deep.equal([
      {
        operation: 'getPet',
        since: new Date('2026-11-20T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: `${service.url}/pets?status=available`,
      },
    ]);
    expect(result.missing).to.equal('PetNotFoundError');
    expect(result.refused).to.have.length(3).and.include.members(['invalid_api_key', 401]);
    expect(Array.isArray(result.refused) && result.refused[2]).to.match(/^[0-9a-f-]{36}$/);
  });

  it('is not available where the service does not allow the origin', async () => {
    const other = await startStore({});
    try {
      const refused = await page.evaluate(
        async ({ entry, baseUrl, apiKey }) => {
          const { AnimalStoreClient }: ClientModule = await import(entry);
          const store = new AnimalStoreClient({ baseUrl, apiKey, retries: 0 });
          const error: unknown = await store.listPets().catch((reason: unknown) => reason);
          return error instanceof Error && [error.name, error.cause instanceof TypeError];
        },
        { entry: ENTRY, baseUrl: other.url, apiKey: KEY },
      );
      expect(refused).to.deep.equal(['UnavailableError', true]);
    } finally {
      await other.stop(0);
    }
  });

  it('follows no redirect, which the browser hides from it', async () => {
    const refused = await page.evaluate(
      async ({ entry, baseUrl, apiKey }) => {
        const { AnimalStoreClient, UnexpectedResponseError }: ClientModule = await import(entry);
        const store = new AnimalStoreClient({ baseUrl, apiKey });
        const error: unknown = await store.listPets().catch((reason: unknown) => reason);
        return error instanceof UnexpectedResponseError && [error.status, error.message];
      },
      { entry: ENTRY, baseUrl: `${origin}/moved/v1`, apiKey: KEY },
    );
    expect(refused).to.have.length(2).and.to.include(0);
    expect(Array.isArray(refused) && refused[1]).to.match(/redirect/);
  });

  it('ends a call by a signal, with its reason, and by its deadline', async () => {
    const ended = await page.evaluate(
      async ({ entry, baseUrl, apiKey }) => {
        const { AnimalStoreClient }: ClientModule = await import(entry);
        const store = new AnimalStoreClient({ baseUrl, apiKey, attemptDeadline: 50, retries: 0 });
        const controller = new AbortController();
        const aborted = store.listPets({}, controller).catch((reason: unknown) => reason);
        controller.abort('given up');
        const late: unknown = await store.listPets().catch((reason: unknown) => reason);
        return [await aborted, late instanceof Error && late.name];
      },
      { entry: ENTRY, baseUrl: `${origin}/silent/v1`, apiKey: KEY },
    );
    expect(ended).to.deep.equal(['given up', 'UnavailableError']);
  });
});
