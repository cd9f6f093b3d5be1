import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import type { Service } from '../../src/bootstrap/service.js';
import { describeInChromium } from './chromium.js';
import { openDocs, operationOn, startDocs } from './docs-page.js';

/** What of an OpenAPI document the page is compared with. */
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: ReadonlyArray<{ readonly name: string }>;
  readonly responses: Readonly<Record<string, unknown>>;
}

describeInChromium('The docs page', (browser) => {
  let service: Service;
  before(async () => {
    service = await startDocs();
  });
  after(() => service.stop(0));
  afterEach(async () => {
    for (const context of browser().contexts()) await context.close();
  });

  it('loads with nothing to complain of, and asks nothing but the service', async () => {
    const { page, complaints, requests } = await openDocs(browser(), service.docsUrl);
    expect(await page.title()).to.equal('Animal Store');
    expect(await page.locator('h1').textContent()).to.equal('Animal Store');
    expect(complaints).to.deep.equal([]);
    const { origin } = new URL(service.docsUrl);
    expect(requests.filter((url) => url.origin !== origin)).to.deep.equal([]);
    const paths = requests.map(({ pathname }) => pathname);
    expect(paths).to.include.members(['/docs', '/docs/page.js', '/docs/page.css', '/openapi.json']);
  });

  it('is where / leads', async () => {
    const { page } = await openDocs(browser(), new URL('/', service.docsUrl).href);
    expect(page.url()).to.equal(service.docsUrl);
  });

  it('shows every operation, parameter, status and schema of the document', async () => {
    const { page } = await openDocs(browser(), service.docsUrl);
    const document: Described = await (await fetch(new URL('/openapi.json', service.url))).json();
    let operations = 0;
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, { operationId, summary, parameters = [], responses }] of Object.entries(item)) {
        operations += 1;
        const shown = operationOn(page, operationId);
        expect(await shown.locator('.route').innerText()).to.include(`${method.toUpperCase()} ${path}`);
        expect(await shown.locator('h3').textContent()).to.equal(summary);
        const names = await shown.locator('.members dt code').allTextContents();
        expect(names).to.deep.equal(parameters.map(({ name }) => name));
        const statuses = await shown.locator('summary b').allTextContents();
        expect(statuses).to.deep.equal(Object.keys(responses));
      }
    }
    expect(operations).to.equal(3);
    const schemas = await page.locator('#schemas h3').allTextContents();
    expect(schemas).to.deep.equal(Object.keys(document.components.schemas));
    const limits = await page.locator('#schema-Pet').innerText();
    expect(limits).to.include('from −9223372036854775808 to 9223372036854775807');
  });

  it('shows every code of an error with its status', async () => {
    const { page } = await openDocs(browser(), service.docsUrl);
    const rows = await page.locator('#errors tbody tr').allInnerTexts();
    const codes = rows.map((row) => row.split(/\s+/, 2).join(' '));
    expect(codes).to.include.members([
      'invalid_pet 400',
      'missing_api_key 401',
      'pet_not_found 404',
      'service_unavailable 503',
    ]);
  });

  it('marks what is deprecated, since when and until when', async () => {
    const { page } = await openDocs(browser(), service.docsUrl);
    const getPet = operationOn(page, 'getPet');
    expect(await getPet.locator('.badge').textContent()).to.equal('Deprecated');
    expect(await getPet.locator('.note').innerText()).to.match(
      /^Deprecated since 20 November 2026, to be removed on 5 December 2030\./,
    );
    expect(await operationOn(page, 'listPets').locator('.badge, .note').count()).to.equal(0);
    expect(await page.getByRole('navigation').innerText()).to.include('Get an animal (deprecated)');
  });

  it('goes to what its address points to', async () => {
    const { page } = await openDocs(browser(), `${service.docsUrl}#getPet`);
    expect((await operationOn(page, 'getPet').boundingBox())?.y).to.be.within(-5, 100);
  });

  it('says so when the document cannot be read', async () => {
    const page = await (await browser().newContext()).newPage();
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.goto(service.docsUrl);
    const state = page.locator('#state', { hasText: 'could not be read' });
    await state.waitFor();
    expect(await state.textContent()).to.include('answered with 503');
  });

  it('tells who has no JavaScript where the document is', async () => {
    const page = await (await browser().newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(service.docsUrl);
    const link = page.getByRole('main').getByRole('link', { name: 'OpenAPI document' });
    expect(await link.getAttribute('href')).to.equal('openapi.json');
  });

  it('works below another path, behind a proxy', async () => {
    const proxy = await proxyBelow('/shop', service.url);
    try {
      const { page, complaints } = await openDocs(browser(), `${proxy.origin}/shop/`);
      expect(page.url()).to.equal(`${proxy.origin}/shop/docs`);
      expect(complaints).to.deep.equal([]);
    } finally {
      await proxy.close();
    }
  });

  it('lets nothing in that is not of the service: no script, picture, style or address', async () => {
    const { page } = await openDocs(browser(), service.docsUrl);
    const refused = await page.evaluate(async () => {
      const reported: string[] = [];
      const all = Promise.withResolvers<void>();
      const report = (what: string): void => {
        reported.push(what);
        if (reported.length === 4) all.resolve();
      };
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        report(effectiveDirective),
      );
      const style = document.createElement('style');
      style.textContent = 'body { display: none }';
      document.body.append(style);
      const picture = document.createElement('img');
      picture.src = 'https://elsewhere.example/';
      document.body.append(picture);
      await fetch('https://elsewhere.example/').catch(() => {});
      try {
        document.body.insertAdjacentHTML('beforeend', '<b>x</b>');
      } catch {
        // reported
      }
      await all.promise;
      return reported.sort();
    });
    expect(refused).to.deep.equal(['connect-src', 'img-src', 'require-trusted-types-for', 'style-src-elem']);
  });
});

/** A proxy that has all of the service below a path, which it takes away. */
async function proxyBelow(
  path: string,
  target: string,
): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    ask(new URL(url.slice(path.length), target), { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
