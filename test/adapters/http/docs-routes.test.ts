import { expect } from 'chai';
import { mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { GivenHttpSettings, HttpResponse } from '../../../src/adapters/http/index.js';
import { httpInterface, requestWith } from './fixtures.js';

const SCRIPT = 'const é = 1;\n'.repeat(1000);
const docs = [{ name: 'a.js', type: 'text/javascript; charset=utf-8', gzip: gzipSync(SCRIPT) }];

const get = (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  settings: GivenHttpSettings = {},
): Promise<HttpResponse> =>
  httpInterface({ docs, settings }).handle(requestWith(headers, { path }));

describe('The docs page', () => {
  it('sends its files gzipped to a client that accepts gzip', async () => {
    const { headers, body } = await get('/docs/a.js', { 'accept-encoding': 'br, gzip' });

    expect(headers).to.include({
      'Content-Type': 'text/javascript; charset=utf-8',
      'Content-Encoding': 'gzip',
      Vary: 'Accept-Encoding, Origin',
    });
    expect(body).to.equal(docs[0]?.gzip);
  });

  for (const accepted of [undefined, 'br', 'gzip;q=0'])
    it(`unpacks its files for a client that accepts ${accepted ?? 'nothing in particular'}`, async () => {
      const { headers, body } = await get(
        '/docs/a.js',
        accepted === undefined ? {} : { 'accept-encoding': accepted },
      );

      expect(headers).to.not.have.property('Content-Encoding');
      expect(Buffer.from(body).toString()).to.equal(SCRIPT);
    });

  it('unpacks a file once for all clients, so that many do not exhaust the memory', async () => {
    const http = httpInterface({ docs });
    const request = requestWith({}, { path: '/docs/a.js' });
    const [one, other] = await Promise.all([http.handle(request), http.handle(request)]);

    expect(one.body).to.equal(other.body);
  });

  it('has an entity tag for each encoding of a file, and is not sent again', async () => {
    const packed = await get('/docs/a.js', { 'accept-encoding': 'gzip' });
    const plain = await get('/docs/a.js');
    const tag = plain.headers['ETag'] ?? '';
    expect(tag).to.not.equal(packed.headers['ETag']);

    const again = await get('/docs/a.js', { 'if-none-match': tag });

    expect(again.status).to.equal(304);
    expect(again.headers).to.not.have.any.keys('Content-Type', 'Content-Encoding');
  });

  for (const [settings, sources] of [
    [{}, "'self'"],
    [
      { publicUrl: 'https://a.example/v1', stagingUrl: 'http://b.example:81/shop/v1' },
      "'self' https://a.example http://b.example:81",
    ],
  ] as const)
    it(`may send requests to ${sources}`, async () => {
      const { headers } = await get('/docs', {}, settings);
      expect(headers['Content-Security-Policy'])
        .to.match(new RegExp(`connect-src ${sources}$`))
        .and.include("script-src 'self';");
    });

  it('gets 404 if the interface was given no files', async () => {
    const http = httpInterface();
    for (const path of ['/', '/docs', '/docs/start.js']) {
      const { status } = await http.handle(requestWith({}, { path }));
      expect(status, path).to.equal(404);
    }
  });
});

describe('Entity tags', () => {
  it('need no more than Web Crypto', async () => {
    const module = import.meta.resolve('../../../src/adapters/http/entity-tag.js');
    mock.method(process, 'getBuiltinModule', () => undefined);
    try {
      const { respondConditionally } = (await import(`${module}?web`)) as {
        readonly respondConditionally: (...given: unknown[]) => Promise<HttpResponse>;
      };
      const response = { status: 200, headers: {}, body: 'é' };
      const { headers } = await respondConditionally(requestWith({}), response);
      expect(headers['ETag']).to.match(/^"[\w+/]{22}"$/);
    } finally {
      mock.restoreAll();
    }
  });
});
