import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type * as Client from '../../src/adapters/http/client/index.js';
import type { Service } from '../../src/bootstrap/service/start-service.js';
import { KEY, describeInChromium, startStore } from './fixtures.js';

const BUILT = new URL('../../src/', import.meta.url);

/** Loads the client in a page as it was built: no bundler has touched it. */
async function loadClient(page: Page): Promise<void> {
  await page.route('**/built/**', (route) => {
    const { pathname } = new URL(route.request().url());
    return route.fulfill({ path: fileURLToPath(new URL(pathname.replace('/built/', ''), BUILT)) });
  });
  await page.evaluate(async (entry) => {
    Object.assign(globalThis, await import(entry));
  }, '/built/adapters/http/client/index.js');
}

describeInChromium('AnimalStoreClient in a page of another origin than the service', (browser) => {
  let shop: Service; // another service has another origin
  let service: Service;
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    shop = await startStore();
    const { origin } = new URL(shop.url);
    service = await startStore({ CORS_ORIGINS: origin });
    page = await browser().newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${origin}/livez`);
    await loadClient(page);
  });
  after(async () => {
    expect(complaints).to.deep.equal([]);
    await Promise.all([shop.stop(0), service.stop(0)]);
  });

  it('creates, gets and lists animals to the digit, and reads the headers of responses', async () => {
    const result = await page.evaluate(
      async (options) => {
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
      },
      { baseUrl: service.url, apiKey: KEY },
    );
    const [one, two] = ['one', 'two'].map((name, index) => {
      return { id: BigInt(index + 1), name, categoryId: 9223372036854775807n, status: 'available' };
    });
    const replays = [false, false, true];

    expect(result).to.deep.equal({ replays, listed: [one, two], got: two, requestId: 36 });
  });

  it('answers a page that is traced, whatever agent adds its headers', async () => {
    const traced = await browser().newPage(); // Playwright itself answers the preflights of a page with routes
    await traced.goto(page.url());
    const statuses = await traced.evaluate(
      async ({ url, key, headers }) => {
        const answers: Array<readonly [header: string, status: number | string]> = [];
        for (const name of headers) {
          const sent = { Authorization: `Bearer ${key}`, [name]: '1' };
          const status = await fetch(`${url}/pets`, { headers: sent }).then(
            (response) => response.status,
            (error: unknown) => String(error),
          );
          answers.push([name, status]);
        }
        return answers;
      },
      {
        url: service.url,
        key: KEY,
        headers: ['traceparent', 'X-Amzn-Trace-Id', 'sw8', 'X-Forwarded-User'],
      },
    );
    await traced.close();

    expect(statuses).to.deep.equal([
      ['traceparent', 200],
      ['X-Amzn-Trace-Id', 200],
      ['sw8', 200],
      ['X-Forwarded-User', 'TypeError: Failed to fetch'],
    ]);
  });
});

declare global {
  /** As `loadClient` loads it. */
  var AnimalStoreClient: typeof Client.AnimalStoreClient;
}
