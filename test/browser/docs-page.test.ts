import axe from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { docsPage } from '../../src/adapters/http/docs-page/docs-page.js';
import { DEFAULT_HTTP_SETTINGS } from '../../src/adapters/http/http-settings.js';
import type { Service } from '../../src/bootstrap/service/start-service.js';
import {
  KEY,
  describeInChromium,
  fieldOf,
  keyField,
  openMore,
  operationOn,
  send,
  startStore,
} from './fixtures.js';

const LARGEST = '9223372036854775807';

/** Where everything on the page is. */
const placesOf = (page: Page) =>
  page.evaluate(() => {
    scrollTo(0, 0);
    return [...document.querySelectorAll<HTMLElement>('header, header *, main, main > *')].map(
      (one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        return `${one.localName}#${one.id} ${[x, y, width, height].map(Math.round).join()}`;
      },
    );
  });

/** Presses Tab until the field or button of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < 60; tabs += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const { activeElement: one } = document;
      const label = one instanceof HTMLInputElement ? one.labels?.[0] : one;
      return label?.textContent;
    });
    if (focused === name) return;
  }
  throw new Error(`Tab does not reach ${name}.`);
}

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
  // A file that nobody waits for may still be on its way.
  afterEach(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
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
    expect(requests.filter((url) => !url.startsWith(new URL('/', service.url).href))).to.deep.equal(
      [],
    );
    expect(requests).to.include(`${service.docsUrl}/exact-json.js`);
  });

  it('sends no cookies', async () => {
    await page
      .context()
      .addCookies([{ name: 'session', value: 'of-the-browser', url: service.url }]);
    const loaded = (await page.goto(service.docsUrl))?.request();

    expect(await loaded?.allHeaders(), 'the cookie is valid').to.include.keys('cookie');

    await keyField(page).fill(KEY);
    const [request] = await Promise.all([
      page.waitForRequest(/\/v1\/pets$/),
      send(page, 'listPets'),
    ]);
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

  it('shows a response that is not JSON as it came, and says so when there is none', async () => {
    await page.route('**/v1/pets', (route) =>
      route.fulfill({ status: 502, body: '<h1>Bad</h1> 1' }),
    );
    const { outcome, body } = await send(page, 'listPets');

    expect([outcome, body]).to.deep.equal(['502 Bad Gateway', '<h1>Bad</h1> 1']);

    await page.route('**/v1/pets', (route) => route.abort());

    expect((await send(page, 'listPets')).outcome).to.equal('No response');
  });

  it('sends once at a double click', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const clicked = Promise.withResolvers<void>();
    await page.route('**/v1/pets', async (route) => {
      await clicked.promise;
      await route.continue();
    });
    const createPet = operationOn(page, 'createPet');

    await createPet.getByRole('button', { name: 'Send' }).dblclick();
    clicked.resolve();
    await createPet.getByRole('status').filter({ hasNotText: 'Sending' }).waitFor();
    const { outcome } = await send(page, 'createPet');

    expect(outcome).to.equal('201 Created');
    expect(requests, 'requests of a double click and a click').to.have.length(2);
  });

  it('marks the key field while the service refuses the key', async () => {
    const key = keyField(page);

    for (const [value, outcome, isRefused] of [
      ['', '401 Unauthorized', 'true'],
      ['nobody', '401 Unauthorized', 'true'],
      [KEY, '200 OK', 'false'],
    ] as const) {
      await key.fill(value);

      expect((await send(page, 'listPets')).outcome).to.equal(outcome);
      expect(await key.getAttribute('aria-invalid')).to.equal(isRefused);
    }
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

    const selected = await page.evaluate(() => String(getSelection()));
    const url = `${service.url}/pets?limit=7&status=sold`;

    expect(selected).to.equal(`curl '${url}' \\\n  -H "Authorization: Bearer $API_KEY"`);
  });

  it('has no fault that axe finds, light and dark, narrow and wide', async () => {
    await send(page, 'createPet');
    await page.locator('details').evaluateAll((all: HTMLDetailsElement[]) => {
      for (const details of all) details.open = true;
    });
    await keyField(page).fill('nobody');
    await send(page, 'getPet');
    await page.evaluate(axe.source);

    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);

      expect(scrollWidth, 'the width of the page in pixels').to.equal(width);
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
      const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);

      expect(found, `what axe finds in ${colorScheme} at ${width} pixels`).to.deep.equal([]);
    }
  });

  it('moves nothing when Tab goes on, and shows its skip link on the first', async () => {
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(service.docsUrl);
      const before = await placesOf(page);

      for (let tabs = 1; tabs <= 12; tabs += 1) {
        await page.keyboard.press('Tab');
        const moved = (await placesOf(page)).filter((place, index) => place !== before[index]);

        expect(moved, `moved by Tab ${tabs} at ${width} pixels`).to.deep.equal([]);

        if (tabs > 1) continue;
        const link = page.getByRole('link', { name: 'Skip to the operations' });

        const hasFocus = await link.evaluate((one) => one === document.activeElement);

        expect(hasFocus, 'whether the skip link has the focus').to.equal(true);

        const shown = await link.evaluate((one) => {
          const { x, y, right, bottom } = one.getBoundingClientRect();
          const centre = document.elementFromPoint((x + right) / 2, (y + bottom) / 2);
          return centre === one && x >= 0 && right <= innerWidth && y >= 0 && bottom < 100;
        });

        expect(shown, `the skip link can be seen at ${width} pixels`).to.equal(true);
      }
    }
  });

  it('brings the response into view, and announces it', async () => {
    for (const [width, height] of [
      [320, 256], // a zoom of 400 %
      [390, 600],
      [1280, 500],
    ] as const) {
      await page.setViewportSize({ width, height });

      for (const id of ['createPet', 'getPet', 'listPets']) {
        const outcome = operationOn(page, id).getByRole('status');

        await page.evaluate(() => scrollTo(0, 0));
        const button = operationOn(page, id).getByRole('button', { name: 'Send' });

        // At the lower edge, as after filling in the form: what follows is below the fold.
        await button.evaluate((one) => one.scrollIntoView({ block: 'end' }));
        // A screen reader reads each text that the status gets.
        const told = await outcome.evaluateHandle((status) => {
          const texts: (string | null)[] = [];
          new MutationObserver(() => texts.push(status.textContent)).observe(status, {
            childList: true,
          });
          return texts;
        });
        await button.evaluate((one: HTMLButtonElement) => one.click());
        await outcome.filter({ hasText: /^\d{3} / }).waitFor();
        const announced = ['Sending…', await outcome.textContent()];

        expect(await told.jsonValue(), `what ${id} announces`).to.deep.equal(announced);

        for (const part of [outcome, operationOn(page, id).locator('.body')]) {
          const isInView = await part.evaluate((one) => {
            const { top } = one.getBoundingClientRect();
            return top > -1 && top < innerHeight - 20; // scrolled to a whole pixel
          });

          expect(isInView, `${id} at ${width} by ${height}`).to.equal(true);
        }
      }
    }
  });

  it('leads from page to page, and from a new animal to it, with the sample of each', async () => {
    const added = [await send(page, 'createPet'), await send(page, 'createPet')];
    const ids = added.map(({ body }) => (JSON.parse(body) as { id: number }).id);

    await fieldOf(page, 'listPets', 'limit').fill('1');
    await fieldOf(page, 'listPets', 'after').fill(String(Number(ids[0]) - 1));
    const next = operationOn(page, 'listPets').locator('.follow');
    const sampleOf = (id: string) => operationOn(page, id).locator('.curl').innerText();

    const first = await send(page, 'listPets');
    const second = await send(page, 'listPets', 'Next page');

    const listed = [first, second].map(({ body }) => JSON.parse(body)[0].id as number);

    expect(listed, 'the ids of the two pages').to.deep.equal(ids);
    expect(await sampleOf('listPets')).to.include(`/pets?limit=1&after=${ids[0]}' `);
    expect(await next.isVisible(), 'a button after the last page').to.equal(false);

    const shown = await send(page, 'createPet', 'Get this animal');

    expect(shown).to.include({ outcome: '200 OK', body: added[1]?.body });
    expect(await sampleOf('createPet')).to.include(`curl '${service.url}/pets/${ids[1]}' `);

    const again = await send(page, 'createPet');

    expect(again.outcome, 'with the form as it was').to.equal('201 Created');
  });

  it('can be used by the keyboard alone, at 400 % zoom too', async () => {
    for (let count = 0; count < 4; count += 1) await send(page, 'createPet');
    for (const [width, height] of [
      [1280, 800],
      [320, 256],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(service.docsUrl);
      await tabTo(page, 'API key');
      await page.keyboard.type(KEY);
      await tabTo(page, 'limit');
      await page.keyboard.type('2');

      for (const button of ['Send', 'Next page', 'curl']) {
        await tabTo(page, button);
        const isOutlined = await page.evaluate(() => {
          const { outlineStyle, outlineWidth } = getComputedStyle(
            document.activeElement ?? document.body,
          );
          return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
        });

        expect(isOutlined, `${button} shows that it has the focus`).to.equal(true);

        if (button === 'curl') break;
        const answered = page.waitForResponse(/\/v1\/pets\?/);

        await page.keyboard.press('Enter');
        await answered;
        const outcome = operationOn(page, 'listPets').getByRole('status');

        await outcome.filter({ hasText: '200 OK' }).waitFor();
      }
    }
  });

  it('shows a name that is written from right to left inside its quotes', async () => {
    for (const name of ['בלה', 'الكلب 7', 'בלה (Bella)']) {
      await fieldOf(page, 'createPet', 'body').fill(JSON.stringify({ name, categoryId: 7 }));
      const { body } = await send(page, 'createPet');
      const places = await operationOn(page, 'createPet')
        .locator('.body')
        .evaluate((shown) => {
          const text = shown.firstChild;
          const end = text?.textContent?.indexOf('",\n') ?? 0;
          return ['"name"', '": "', '",\n'].map((part) => {
            const range = document.createRange();
            const at = text?.textContent?.indexOf(part) ?? -1;
            range.setStart(text ?? shown, at);
            range.setEnd(text ?? shown, at + (at === end ? 1 : part.length));
            return range.getBoundingClientRect().left;
          });
        });

      expect(places, body).to.deep.equal(places.toSorted((one, other) => one - other));
    }
  });

  it('says which field cannot be sent, and sends again once it can', async () => {
    await openMore(page, 'createPet');

    for (const [id, name] of [
      ['getPet', 'petId'],
      ['listPets', 'limit'],
      ['createPet', 'Idempotency-Key'],
      ['createPet', 'body'],
    ] as const) {
      const field = fieldOf(page, id, name);

      const valid = await field.inputValue();
      // Set by a script: the tools of the test replace what is no character.
      await field.evaluate((one: HTMLInputElement) => {
        one.value += '\ud83d';
        one.dispatchEvent(new Event('input', { bubbles: true }));
      });
      const { outcome, body } = await send(page, id);

      expect(outcome, name).to.equal('Not sent');
      expect(body, name).to.include(`${name} contains half a character`);
      expect(await operationOn(page, id).locator('.curl').innerText()).to.include(name);

      await field.fill(valid);

      expect((await send(page, id)).outcome, name).to.match(/^[24]\d\d /);
      expect(await operationOn(page, id).locator('.curl').innerText()).to.include('curl ');
    }
  });

  it('sends to its own service, or to the address that is chosen', async () => {
    const published = { publicUrl: 'https://animals.example/shop/v1', stagingUrl: '/staging/v1' };

    await proxy(
      page,
      new URL('/', service.docsUrl).href,
      docsPage({ ...DEFAULT_HTTP_SETTINGS, ...published }),
    );
    await page.goto(service.docsUrl);
    const address = page.getByLabel('Address');
    const sample = operationOn(page, 'listPets').locator('.curl');

    for (const [name, url] of [
      [undefined, service.url],
      ['Production', published.publicUrl],
      ['Staging', new URL(published.stagingUrl, service.url).href],
    ] as const) {
      if (name) await address.selectOption(name);

      expect(await sample.innerText()).to.include(`curl '${url}/pets'`);
    }
  });

  it('works below a prefix of a proxy, and over plain HTTP, where browsers offer pages less', async () => {
    await proxy(page, 'http://animals.example/shop/');
    await page.goto('http://animals.example/shop/docs');
    const isSecure = await page.evaluate(() => isSecureContext);

    expect(isSecure, 'whether the browser takes the page for secure').to.equal(false);

    await keyField(page).fill(KEY);
    await openMore(page, 'createPet');
    await fieldOf(page, 'createPet', 'Idempotency-Key').fill('a-key');

    expect((await send(page, 'createPet')).headers).to.not.include('idempotency-replayed');
    expect((await send(page, 'createPet')).headers).to.include('idempotency-replayed');
  });

  /** Serves everything below `origin` from the service, with another page if given. */
  const proxy = (visited: Page, origin: string, html?: string): Promise<unknown> =>
    visited.route(`${origin}**`, async (route) => {
      const url = new URL(route.request().url().replace(origin, '/'), service.docsUrl).href;
      const response = await route.fetch({ url });
      await route.fulfill({ response, ...(html && url === service.docsUrl && { body: html }) });
    });
});
