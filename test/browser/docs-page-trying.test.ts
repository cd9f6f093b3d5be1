import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Service } from '../../src/bootstrap/service.js';
import { describeInChromium } from './chromium.js';
import { KEY, fieldOf, keyField, openDocs, operationOn, send, startDocs } from './docs-page.js';

const LARGEST = '9223372036854775807';

describeInChromium('Trying the interface on the docs page', (browser) => {
  let service: Service;
  before(async () => {
    service = await startDocs();
  });
  after(() => service.stop(0));
  afterEach(async () => {
    for (const context of browser().contexts()) await context.close();
  });

  const open = async (options?: BrowserContextOptions): Promise<Page> =>
    (await openDocs(browser(), service.docsUrl, options)).page;

  it('lists animals with the key that is typed in', async () => {
    const page = await open();
    await keyField(page).fill(KEY);
    const { outcome, body, headers } = await send(page, 'listPets');
    expect(outcome).to.equal('200 OK');
    expect(body).to.match(/^\[/);
    expect(headers).to.include('content-type application/json; charset=utf-8');
  });

  it('adds an animal, and shows its numbers to the digit', async () => {
    const page = await open();
    await keyField(page).fill(KEY);
    await fieldOf(page, 'createPet', 'body').fill(`{"name":"Bella","categoryId":${LARGEST}}`);
    const { outcome, body, headers } = await send(page, 'createPet');
    expect(outcome).to.equal('201 Created');
    const id = /"id": (\d+)/.exec(body)?.[1] ?? '';
    expect(body).to.equal(
      `{\n  "id": ${id},\n  "name": "Bella",\n  "categoryId": ${LARGEST},\n  "status": "available"\n}`,
    );
    expect(headers).to.include(`location /v1/pets/${id}`);
  });

  it('shows an id of 2^63-1 to the digit', async () => {
    const page = await open();
    // No store has as many animals.
    const pet = `{"id":${LARGEST},"name":"Bella","categoryId":-9223372036854775808,"status":"sold"}`;
    await page.route(`**/pets/${LARGEST}`, (route) =>
      route.fulfill({ body: pet, contentType: 'application/json; charset=utf-8' }),
    );
    await fieldOf(page, 'getPet', 'petId').fill(LARGEST);
    const { body } = await send(page, 'getPet');
    expect(body).to.include(`"id": ${LARGEST},`).and.to.include('"categoryId": -9223372036854775808,');
  });

  it('adds the example as it stands', async () => {
    const page = await open();
    await keyField(page).fill(KEY);
    expect((await send(page, 'createPet')).outcome).to.equal('201 Created');
  });

  it('shows a 401 as one', async () => {
    const page = await open();
    const without = await send(page, 'listPets');
    expect(without.outcome).to.equal('401 Unauthorized');
    expect(without.body).to.include('"code": "missing_api_key"');
    expect(without.headers).to.include('www-authenticate Bearer realm="animal-store"');
    await keyField(page).fill('nobody');
    expect((await send(page, 'createPet')).body).to.include('"code": "invalid_api_key"');
  });

  it('leaves it to the service to refuse', async () => {
    const page = await open();
    await keyField(page).fill(KEY);
    await fieldOf(page, 'listPets', 'limit').fill('0');
    const { outcome, body } = await send(page, 'listPets');
    expect(outcome).to.equal('400 Bad Request');
    expect(body).to.include('"code": "invalid_parameter"');
    await fieldOf(page, 'createPet', 'body').fill('{"name":');
    expect((await send(page, 'createPet')).body).to.include('"code": "malformed_json"');
  });

  it('goes on to the next page, until there is none', async () => {
    const page = await open();
    await keyField(page).fill(KEY);
    const names = ['Page one', 'Page two', 'Page three'];
    for (const name of names) {
      await fieldOf(page, 'createPet', 'body').fill(`{"name":"${name}","categoryId":1,"status":"pending"}`);
      await send(page, 'createPet');
    }
    await fieldOf(page, 'listPets', 'limit').fill('1');
    await fieldOf(page, 'listPets', 'status').selectOption('pending');
    const bodies = [(await send(page, 'listPets')).body];
    const next = operationOn(page, 'listPets').getByRole('button', { name: 'Next page' });
    while ((await next.count()) > 0) bodies.push((await send(page, 'listPets', 'Next page')).body);
    expect(bodies.map((body) => /"name": "(.*)"/.exec(body)?.[1])).to.deep.equal(names);
    expect(await fieldOf(page, 'listPets', 'cursor').inputValue()).to.match(/^\w+$/);
    expect(await fieldOf(page, 'listPets', 'status').inputValue()).to.equal('pending');
  });

  it('copies a curl line of what is filled in, without the key', async () => {
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await keyField(page).fill(KEY);
    await fieldOf(page, 'listPets', 'limit').fill('7');
    await fieldOf(page, 'listPets', 'status').selectOption('sold');
    const listPets = operationOn(page, 'listPets');
    await listPets.getByRole('button', { name: 'Copy' }).click();
    await listPets.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(
      `curl '${service.url}/pets?limit=7&status=sold' \\\n  -H "Authorization: Bearer $KEY"`,
    );
  });

  it('keeps the key in the page alone', async () => {
    const { page, requests } = await openDocs(browser(), service.docsUrl);
    await keyField(page).fill(KEY);
    await send(page, 'listPets');
    const [kept, ...stores] = await page.evaluate(async () => [
      `${location.href} ${document.documentElement.outerHTML} ${document.cookie}`,
      localStorage.length,
      sessionStorage.length,
      (await indexedDB.databases()).length,
    ]);
    expect(stores).to.deep.equal([0, 0, 0]);
    expect(`${kept} ${requests.map(({ href }) => href).join(' ')}`).not.to.include(KEY);
    await page.reload();
    expect(await keyField(page).inputValue()).to.equal('');
  });

  it('shows the key while it is asked to', async () => {
    const page = await open();
    const button = page.getByRole('button', { name: 'Show' });
    const state = async (): Promise<unknown> => [
      await keyField(page).getAttribute('type'),
      await button.getAttribute('aria-pressed'),
    ];
    expect(await state()).to.deep.equal(['password', 'false']);
    await button.click();
    expect(await state()).to.deep.equal(['text', 'true']);
    await button.click();
    expect(await state()).to.deep.equal(['password', 'false']);
  });

  it('says so when nothing answers', async () => {
    const page = await open();
    await page.route('**/v1/pets', (route) => route.abort());
    await operationOn(page, 'listPets').getByRole('button', { name: 'Send' }).click();
    const failure = operationOn(page, 'listPets').locator('.failure');
    expect(await failure.textContent()).to.match(/^There was no answer: /);
  });

  it('asks the service that the page is from, where that is not the published address', async () => {
    const settings = { PUBLIC_URL: 'https://animals.example/shop/v1', BASE_PATH: '/inside/v1' };
    const other = await startDocs(settings);
    try {
      const { page } = await openDocs(browser(), other.docsUrl);
      const address = page.getByLabel('Address');
      expect(await address.locator('option').allTextContents()).to.deep.equal([
        `Production: ${settings.PUBLIC_URL}`,
        `This service: ${other.url}`,
      ]);
      expect(await address.inputValue()).to.equal(other.url);
      await keyField(page).fill(KEY);
      expect((await send(page, 'listPets')).outcome).to.equal('200 OK');
      await address.selectOption(settings.PUBLIC_URL);
      const curl = operationOn(page, 'listPets').locator('.curl');
      expect(await curl.innerText()).to.include(`'${settings.PUBLIC_URL}/pets'`);
    } finally {
      await other.stop(0);
    }
  });

  it('can be done by keyboard alone', async () => {
    const page = await open();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type(KEY);
    expect(await keyField(page).inputValue()).to.equal(KEY);
    const limit = fieldOf(page, 'listPets', 'limit');
    for (let presses = 0; presses < 60; presses += 1) {
      if (await limit.evaluate((field) => field === document.activeElement)) break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    const outcome = operationOn(page, 'listPets').locator('.outcome strong');
    await outcome.waitFor();
    expect(await outcome.textContent()).to.equal('200 OK');
  });
});
