import axe from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { docsPage } from '../../src/adapters/http/docs-page/docs-page.js';
import { DEFAULT_HTTP_SETTINGS } from '../../src/adapters/http/http-settings.js';
import type { Service } from '../../src/bootstrap/service/start-service.js';
import { describeInChromium } from './chromium.js';
import { KEY, fieldOf, keyField, operationOn, send, startStore } from './docs-page.js';

const LARGEST = '9223372036854775807';

describeInChromium('The docs page', (browser) => {
  let service: Service;
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    service = await startStore();
    page = await browser().newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  beforeEach(async () => {
    await page.goto(service.docsUrl);
    await keyField(page).fill(KEY);
  });
  after(() => service.stop(0));

  it('loads all it needs from the service, without a complaint of the browser', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    complaints.length = 0;
    await page.goto(new URL('/', service.docsUrl).href);
    expect(page.url()).to.equal(service.docsUrl);
    await keyField(page).fill(KEY);
    expect((await send(page, 'listPets')).outcome).to.equal('200 OK');
    expect(complaints).to.deep.equal([]);
    expect(requests.filter((url) => !url.startsWith(new URL('/', service.url).href))).to.deep.equal([]);
    expect(requests).to.include(`${service.docsUrl}/exact-json.js`);
  });

  it('sends no cookies', async () => {
    await page.context().addCookies([{ name: 'session', value: 'of-the-browser', url: service.url }]);
    const loaded = (await page.goto(service.docsUrl))?.request();
    expect(await loaded?.allHeaders(), 'the cookie is valid').to.include.keys('cookie');
    await keyField(page).fill(KEY);
    const [request] = await Promise.all([page.waitForRequest(/\/v1\/pets$/), send(page, 'listPets')]);
    const headers = await request.allHeaders();
    expect(headers)
      .to.include({ authorization: `Bearer ${KEY}` })
      .and.not.include.keys('cookie');
    await page.context().clearCookies();
  });

  it('sends and shows integers exact to the digit', async () => {
    await fieldOf(page, 'createPet', 'body').fill(`{"name":"Zoë 🐕","categoryId":-${LARGEST}}`);
    const { outcome, body, headers } = await send(page, 'createPet');
    expect(outcome).to.equal('201 Created');
    const { id } = JSON.parse(body) as { id: number };
    expect(body).to.equal(
      `{\n  "id": ${id},\n  "name": "Zoë 🐕",\n  "categoryId": -${LARGEST},\n  "status": "available"\n}`,
    );
    expect(headers).to.include(`/v1/pets/${id}`);
  });

  it('changes an animal and removes it, where the service lets it', async () => {
    const changing = await startStore({ EXPERIMENTAL: 'changeStatus,removePet' });
    try {
      await page.goto(changing.docsUrl);
      await keyField(page).fill(KEY);
      expect((await send(page, 'createPet')).outcome).to.equal('201 Created');
      await fieldOf(page, 'changeStatus', 'from').selectOption('available');
      const sold = await send(page, 'changeStatus');
      expect(sold.outcome).to.equal('200 OK');
      expect(sold.body).to.include('"status": "sold"');
      expect((await send(page, 'changeStatus')).outcome).to.equal('409 Conflict');
      expect(await send(page, 'removePet')).to.include({ outcome: '204 No Content', body: '' });
      expect((await send(page, 'removePet')).outcome).to.equal('404 Not Found');
    } finally {
      await changing.stop(0);
    }
  });

  it('shows a response that is not JSON as it came, and says so when there is none', async () => {
    await page.route('**/v1/pets', (route) => route.fulfill({ status: 502, body: '<h1>Bad</h1> 1' }));
    const { outcome, body } = await send(page, 'listPets');
    expect([outcome, body]).to.deep.equal(['502 Bad Gateway', '<h1>Bad</h1> 1']);
    await page.unrouteAll();
    await page.route('**/v1/pets', (route) => route.abort());
    expect((await send(page, 'listPets')).outcome).to.equal('No response');
    await page.unrouteAll();
  });

  it('sends with Ctrl+Enter and Cmd+Enter, once each', async () => {
    const body = fieldOf(page, 'createPet', 'body');
    const ids: number[] = [];
    for (const keys of ['Control+Enter', 'Meta+Enter', 'Control+Enter']) {
      const response = await send(page, 'createPet', () => body.press(keys));
      ids.push((JSON.parse(response.body) as { id: number }).id);
    }
    const [first = 0] = ids;
    expect(ids).to.deep.equal([first, first + 1, first + 2]);
  });

  it('says at the key field that the service refused the key, and sends again on Enter there', async () => {
    const key = keyField(page);
    await key.fill('');
    await send(page, 'listPets');
    expect(await page.getByRole('alert').textContent()).to.match(/^Enter an API key, then press Enter/);
    await key.fill('nobody');
    expect((await send(page, 'listPets', () => key.press('Enter'))).outcome).to.equal('401 Unauthorized');
    expect(await page.getByRole('alert').textContent()).to.match(/^The service refused this key\./);
    expect(await key.getAttribute('aria-invalid')).to.equal('true');
    expect(await key.getAttribute('aria-describedby')).to.include('key-fault');
    expect(await key.evaluate((field) => field === document.activeElement)).to.equal(true);
    await key.fill(KEY);
    expect((await send(page, 'listPets', () => key.press('Enter'))).outcome).to.equal('200 OK');
    expect(await key.getAttribute('aria-invalid')).to.equal(null);
  });

  it('keeps the key in its field only', async () => {
    await send(page, 'listPets');
    const [text, ...stores] = await page.evaluate(() => [
      `${location.href} ${document.documentElement.outerHTML} ${document.cookie}`,
      localStorage.length,
      sessionStorage.length,
    ]);
    expect(stores).to.deep.equal([0, 0]);
    expect(text).to.not.include(KEY);
    expect(await keyField(page).getAttribute('type')).to.equal('password');
    await page.reload();
    expect(await keyField(page).inputValue()).to.equal('');
  });

  it('keeps the sample up to date, without the key, and selects all of it at a click', async () => {
    const listPets = operationOn(page, 'listPets');
    await fieldOf(page, 'listPets', 'limit').fill('7');
    await fieldOf(page, 'listPets', 'status').selectOption('sold');
    await listPets.locator('.curl').click();
    expect(await page.evaluate(() => String(getSelection()))).to.equal(
      `curl '${service.url}/pets?limit=7&status=sold' \\\n  -H "Authorization: Bearer $API_KEY"`,
    );
  });

  it('goes to the next page until there is none, and offers none once the fields have changed', async () => {
    const names = ['Page one', 'Page two', 'Page three'];
    for (const name of names) {
      await fieldOf(page, 'createPet', 'body').fill(`{"name":"${name}","categoryId":1,"status":"pending"}`);
      await send(page, 'createPet');
    }
    await fieldOf(page, 'listPets', 'limit').fill('1');
    await fieldOf(page, 'listPets', 'status').selectOption('pending');
    const next = operationOn(page, 'listPets').getByRole('button', { name: 'Next page' });
    const bodies = [(await send(page, 'listPets')).body];
    while (await next.isVisible()) bodies.push((await send(page, 'listPets', () => next.click())).body);
    expect(bodies.map((body) => /"name": "(.*)"/.exec(body)?.[1])).to.deep.equal(names);
    await fieldOf(page, 'listPets', 'after').fill('');
    await send(page, 'listPets');
    expect(await next.isVisible()).to.equal(true);
    await fieldOf(page, 'listPets', 'status').selectOption('sold');
    expect(await next.isVisible()).to.equal(false);
  });

  it('has no fault that axe finds and needs no sideways scrolling, light and dark, narrow and wide', async () => {
    await send(page, 'createPet');
    await page
      .locator('details')
      .evaluateAll((all: HTMLDetailsElement[]) => all.forEach((one) => (one.open = true)));
    await keyField(page).fill('nobody');
    await send(page, 'getPet');
    await page.evaluate(axe.source);
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(width);
    }
    // Only colours differ in dark mode.
    for (const [colorScheme, width, only] of [
      ['light', 1280, ''],
      ['dark', 390, ", runOnly: ['color-contrast']"],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      const { violations }: axe.AxeResults = await page.evaluate(
        `axe.run({ resultTypes: ['violations']${only} })`,
      );
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).to.deep.equal([]);
    }
  });

  it('uses the published address that it is from, else its own service', async () => {
    const publicUrl = 'https://animals.example/shop/v1';
    const html = docsPage({ ...DEFAULT_HTTP_SETTINGS, publicUrl });
    const shown = async (origin: string): Promise<unknown> => {
      await proxy(page, origin, html);
      await page.goto(`${origin}docs`);
      const options = await page.getByLabel('Address').locator('option').allTextContents();
      const sample = page.locator('#listPets .curl', { hasText: "/pets'" }); // the page's script writes it
      return [options, /'(.*)\/pets'/.exec(await sample.innerText())?.[1]];
    };
    expect(await shown('https://animals.example/shop/')).to.deep.equal([['Production'], publicUrl]);
    const own = [['Production', 'This service'], service.url];
    expect(await shown(new URL('/', service.docsUrl).href)).to.deep.equal(own);
    await page.unrouteAll();
  });

  it('works below a prefix of a proxy, and over plain HTTP, where browsers offer pages less', async () => {
    await proxy(page, 'http://animals.example/shop/');
    await page.goto('http://animals.example/shop/docs');
    expect(await page.evaluate(() => isSecureContext)).to.equal(false);
    await keyField(page).fill(KEY);
    const createPet = operationOn(page, 'createPet');
    const newKey = async (): Promise<string> => {
      await createPet.getByRole('button', { name: 'New' }).click();
      return fieldOf(page, 'createPet', 'Idempotency-Key').inputValue();
    };
    const [one, other] = [await newKey(), await newKey()];
    expect(one).to.match(/^\d{1,20}-\d{1,20}$/);
    expect(other).to.not.equal(one);
    expect((await send(page, 'createPet')).headers).to.not.include('idempotency-replayed');
    expect((await send(page, 'createPet')).headers).to.include('idempotency-replayed');
  });

  /** Serves everything below `origin` from the service, with another page if given. */
  const proxy = (page: Page, origin: string, html?: string): Promise<unknown> =>
    page.route(`${origin}**`, async (route) => {
      const url = new URL(route.request().url().replace(origin, '/'), service.docsUrl).href;
      const response = await route.fetch({ url });
      await route.fulfill({ response, ...(html && url === service.docsUrl && { body: html }) });
    });
});
