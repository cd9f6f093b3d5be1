import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { chromium, type Locator, type Page } from 'playwright-core';
import { createNodeListener, readDocsFiles } from '../../src/adapters/http/node/index.js';
import {
  closeHosts,
  httpInterface,
  memoryAnimalStore,
  startHost,
} from '../adapters/http/fixtures.js';

const LARGEST = 2n ** 63n - 1n;

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Pending without a Chromium; with `REQUIRE_CHROMIUM=1` it fails instead. */
const itInChromium =
  existsSync(executablePath) || process.env['REQUIRE_CHROMIUM'] === '1' ? it : it.skip;

/** Serves three animals below the path `/shop`, as a proxy does. Resolves to the address of the docs page. */
async function serveShop(): Promise<string> {
  const animalStore = memoryAnimalStore();
  for (const name of ['Ada', 'Bo', 'Cy'])
    await animalStore.createPet({ name, categoryId: LARGEST, status: 'sold' });
  const listener = createNodeListener(httpInterface({ animalStore, docs: await readDocsFiles() }));
  const url = await startHost((request, response) => {
    request.url = request.url?.replace('/shop/', '/') ?? '';
    void listener(request, response);
  });
  return `${url}/shop/docs`;
}

describe('The docs page', () => {
  afterEach(closeHosts);

  for (const width of [1280, 390])
    itInChromium(`shows all animals to the digit, ${width} pixels wide`, async () => {
      const docs = await serveShop();
      const args = ['--disable-dev-shm-usage', '--disable-gpu']; // for containers
      await using browser = await chromium.launch({ executablePath, args });
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      page.setDefaultTimeout(0); // mocha has one
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== new URL(docs).origin) complaints.push(request.url());
      });
      const press = (name: string, where: Page | Locator = page) =>
        where.getByRole('button', { name }).first().click();
      const execute = async (operation: string): Promise<string> => {
        const block = page.locator(`[id$=${operation}]`);
        await press('Execute', block);
        return block.locator('.live-responses-table .highlight-code').first().innerText();
      };

      await page.goto(docs);
      await press('Authorize');
      await page.getByLabel('auth-bearer-value').fill('a-key');
      await press('Apply credentials');
      await press('Close');
      const list = await execute('listPets');
      await page.locator('[id$=createPet] textarea').fill(`{"name":"Di","categoryId":${LARGEST}}`);
      const created = await execute('createPet');

      expect(list.match(/"name"/g)).to.have.length(3);
      for (const body of [list, created])
        expect(body).to.match(new RegExp(`"categoryId":\\s+${LARGEST},`));
      expect(complaints).to.deep.equal([]);
    });
});
