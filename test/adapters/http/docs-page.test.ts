import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import {
  curlSample,
  linkedFrom,
  prepareRequest,
  type PreparedRequest,
} from '../../../src/adapters/http/docs-page/browser/request.js';
import { docsPage } from '../../../src/adapters/http/docs-page/docs-page.js';
import {
  DEFAULT_HTTP_SETTINGS,
  type HttpSettings,
} from '../../../src/adapters/http/http-settings.js';
import { readDocsFiles } from '../../../src/adapters/http/node/docs-files.js';
import { parseJson } from '../../../src/exact-json.js';
import { documentFor, operationsOf } from '../../open-api/document.js';

const page = (settings: Partial<HttpSettings> = {}): string =>
  docsPage({ ...DEFAULT_HTTP_SETTINGS, ...settings });

const articleOf = (id: string, html: string): string =>
  html.slice(html.indexOf(`<article class="operation" id="${id}"`)).split('</article>', 1)[0] ?? '';

const errorsOf = (html: string): string =>
  html.slice(html.indexOf('<section id="errors">'), html.indexOf('<section id="schemas">'));

/** The bodies of responses that the page shows, their integers as bigints. */
const samplesIn = (html: string) =>
  Array.from(html.matchAll(/<pre>([^<]*)<\/pre>/g), ([, text = '']) => {
    const json = text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    return parseJson(json) as Readonly<Record<string, unknown>>;
  });

describe('The docs page as HTML', () => {
  const experimental = ['changePet', 'removePet'] as const;
  const document = documentFor({ experimental });
  const whole = page({ experimental });

  for (const { operationId, parameters = [], responses } of Object.values(operationsOf(document))) {
    it(`has every parameter and success of ${operationId}`, () => {
      const html = articleOf(operationId, whole);

      for (const { name } of parameters) expect(html).to.include(` name="${name}" `);
      expect(html).to.include(`>${Object.keys(responses)[0]}</b>`);
    });
  }

  it('has a sample of every response, of its own errors as the OpenAPI document has them', () => {
    for (const { operationId, responses } of Object.values(operationsOf(document))) {
      const own = samplesIn(articleOf(operationId, whole));
      const shown = [...own, ...samplesIn(errorsOf(whole))];

      for (const [status, response] of Object.entries(responses)) {
        for (const code of response['x-error-codes'] ?? []) {
          const sample = shown.find((each) => each['code'] === code);

          expect(String(sample?.['status']), `${operationId} ${code}`).to.equal(status);
          expect(sample?.['message']).to.not.match(/\{\w+\}|undefined/);
        }

        const example = response.content?.['application/json'].example;
        if (own.some(({ code }) => code !== undefined && code === example?.['code']))
          expect(own, operationId).to.deep.include(example);
      }
    }

    const bella = { id: 1n, name: 'Bella', categoryId: 7n, status: 'available' };

    for (const id of ['createPet', 'getPet', 'changePet'])
      expect(samplesIn(articleOf(id, whole))[0], id).to.deep.equal(bella);
    expect(samplesIn(articleOf('listPets', whole))[0]).to.deep.equal([bella]);
    expect(articleOf('createPet', whole), 'the first request').to.include('categoryId&#34;: 7,');
  });

  it('puts the headers of a request behind More, and its other fields before', () => {
    for (const [id, before, behind] of [
      ['listPets', ['limit', 'status', 'after'], ['If-None-Match']],
      ['createPet', ['body'], ['Idempotency-Key']],
      ['changePet', ['petId', 'from', 'body'], ['If-Match']],
    ] as const) {
      const form = articleOf(id, whole).split('</form>', 1)[0] ?? '';
      const names = form
        .split('<summary>More</summary>')
        .map((part) => Array.from(part.matchAll(/ name="([^"]+)"/g), ([, name]) => name));

      expect(names, id).to.deep.equal([before, behind]);
    }
  });

  it('marks each operation by its method, where it is and in the navigation', () => {
    for (const { operationId } of Object.values(operationsOf(document))) {
      const [, method] = /<b class="method is-(\w+)">\1</.exec(articleOf(operationId, whole)) ?? [];

      expect(whole).to.match(new RegExp(`href="#${operationId}"><b class="method is-${method}">`));
    }
  });

  it('has every schema once, with what it says of each member', () => {
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
      const [, shown = '', again] = whole.split(`id="${name}"`);

      expect(again).to.equal(undefined);
      for (const { description } of Object.values(properties))
        expect(shown.replaceAll(/<[^>]+>/g, '')).to.include(description.replaceAll('`', ''));
    }

    expect(whole).to.match(/ id="PetStatus">[^]*one of available, pending, sold/);
  });

  it('marks experimental operations, and knows nothing of those that are not served', () => {
    expect(articleOf('removePet', whole)).to.include('<span class="hint">experimental</span>');

    const html = page({ experimental: ['removePet'] });

    expect(html).to.include('id="removePet"').and.include('status_conflict');
    for (const name of ['changePet', 'PetChange', 'PATCH']) expect(html).to.not.include(name);
    for (const name of ['removePet', 'status_conflict', 'pets:delete'])
      expect(page()).to.not.include(name);
  });

  it('shows the whole path of an operation, and fills in no parameter that is optional', () => {
    const html = articleOf('listPets', page({ basePath: '/shop/v1' }));

    expect(html)
      .to.include('<b>/shop/v1/pets</b>')
      .and.not.match(/ value="[^"]/);
    expect(articleOf('getPet', page())).to.match(/<input id="getPet-petId" [^>]* value="1" /);
    expect(page(), 'relative, for a proxy that puts it below another path').to.include(
      ' value="v1">',
    );
  });

  it('says when getPet will be removed, and omits it once GET_PET=off has removed it', () => {
    const deprecated = articleOf('getPet', page());

    expect(deprecated).to.include('to be removed on 2030-12-05.').and.include('<form');
    expect(page({ getPet: 'off', experimental })).to.not.include('getPet');
  });

  it('says in the list of operations which one is deprecated', () => {
    const [, list = ''] = /<nav\b([^]*?)<\/nav>/.exec(page()) ?? [];

    const marked = list.match(/[A-Z][a-z ]+ \(deprecated\)/g);

    expect(marked, list).to.deep.equal(['Get an animal (deprecated)']);
  });

  /** What the group of a pattern holds, at each place of the page. */
  const named = (pattern: RegExp): string[] =>
    Array.from(whole.matchAll(pattern), ([, name = '']) => name);

  it('labels every field and describes it, and has a place for every link', () => {
    const fields = named(/<(?:input|select) id="([^"]+)"/g).filter((id) => id !== 'address');

    expect(named(/aria-describedby="([^"]+)"/g)).to.have.length(fields.length);
    expect(named(/ for="([^"]+)"/g)).to.include.members(fields);
    expect(named(/ id="([^"]+)"/g)).to.include.members(
      named(/(?:href="#|aria-describedby=")([^"]+)"/g),
    );
  });

  it('escapes what settings hold', () => {
    expect(page({ publicUrl: 'https://a.example/"><b>&/v1' })).to.include(
      'value="https://a.example/&#34;&#62;&#60;b&#62;&#38;/v1"',
    );
  });
});

describe('The static files of the docs page', () => {
  it('are all that the page needs, imports included', async () => {
    const files = await readDocsFiles();
    const names = files.map(({ name }) => name);

    for (const [, name] of page().matchAll(/(?:src|href)="docs\/([^"]+)"/g))
      expect(names).to.include(name);
    for (const { text } of files.filter((file) => file.type.startsWith('text/javascript')))
      for (const [, name] of text.matchAll(/ from '([^']+)'/g))
        expect(names).to.include(name?.replace('./', ''));
  });
});

/** Every character that a shell could read as something else. */
const HOSTILE: PreparedRequest = {
  method: 'POST',
  url: "http://a/?q='$(x)",
  headers: [['X', `it's "quoted"`]],
  body: '@{"name":"O\'Hara \\ $API_KEY ${1} `ls` !!\n\'\'\'"}',
};

describe('A request of the docs page', () => {
  it('has the filled-in fields, encoded, and omits empty ones', () => {
    const fields = [
      { name: 'limit', dataset: { in: 'query' }, value: '+5' },
      { name: 'status', dataset: { in: 'query' }, value: 'x&y=z#' },
      { name: 'after', dataset: { in: 'query' }, value: '' },
      { name: 'If-None-Match', dataset: { in: 'header' }, value: '"tag"' },
      { name: 'X-Empty', dataset: { in: 'header' }, value: '' },
    ];

    expect(prepareRequest('GET', '/pets', 'http://a/v1', fields)).to.deep.equal({
      method: 'GET',
      url: 'http://a/v1/pets?limit=%2B5&status=x%26y%3Dz%23',
      headers: [['If-None-Match', '"tag"']],
      body: null,
    });
  });

  it('keeps a path parameter in its segment', () => {
    for (const [value, segment] of [
      ['../x?y', '..%2Fx%3Fy'],
      ["$&$'", "%24%26%24'"],
    ] as const) {
      const petId = { name: 'petId', dataset: { in: 'path' }, value };
      const { url } = prepareRequest('GET', '/pets/{petId}', 'http://a/v1', [petId]);

      expect(url).to.equal(`http://a/v1/pets/${segment}`);
    }
  });

  it('has its body as it is, empty or not, with its media type', () => {
    for (const value of ['', '{"name": "a"}']) {
      const body = { name: 'body', dataset: { in: 'body' }, value };

      expect(prepareRequest('POST', '/pets', 'http://a/v1', [body])).to.deep.equal({
        method: 'POST',
        url: 'http://a/v1/pets',
        headers: [['Content-Type', 'application/json']],
        body: value,
      });
    }
  });

  it('leads from a response to the next page or the new animal, at the address that was asked', () => {
    const get = { method: 'GET', headers: [], body: null };
    const successor = '</v1/pets?status=available>; rel="successor-version"';
    const next = '</shop/v1/pets?limit=2&after=2>; rel="next"';

    for (const asked of ['http://a/v1/pets', 'http://a/v1/pets?limit=2'])
      for (const Link of [next, `${successor}, ${next}`])
        expect(linkedFrom(asked, new Headers({ Link }))).to.deep.equal({
          text: 'Next page',
          request: { ...get, url: 'http://a/v1/pets?limit=2&after=2' },
        });
    for (const location of ['/v1/pets/12', 'https://b/shop/v1/pets/12'])
      expect(linkedFrom('http://a/v1/pets', new Headers({ Location: location }))).to.deep.equal({
        text: 'Get this animal',
        request: { ...get, url: 'http://a/v1/pets/12' },
      });

    for (const headers of [[], [['Link', successor]]] satisfies Array<Array<[string, string]>>)
      expect(linkedFrom('http://a/v1/pets/1', new Headers(headers))).to.equal(undefined);
  });

  it('has a curl sample that a shell reads exactly', function () {
    const script = curlSample(HOSTILE).replace(/^curl/, String.raw`printf '%s\0'`);
    const { stdout, error } = spawnSync('sh', ['-c', script], {
      env: { API_KEY: 'the key' },
      encoding: 'utf8',
    });
    if (error) this.skip();

    expect(stdout.split('\0').slice(0, -1)).to.deep.equal([
      HOSTILE.url,
      '-H',
      'Authorization: Bearer the key',
      '-H',
      `X: it's "quoted"`,
      '--data-raw',
      HOSTILE.body,
    ]);
    expect(curlSample({ method: 'DELETE', url: 'http://a/', headers: [], body: null })).to.match(
      / -X DELETE$/,
    );
  });
});
