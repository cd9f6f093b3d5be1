import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import {
  curlSample,
  prepareRequest,
  type PreparedRequest,
} from '../../../src/adapters/http/docs-page/browser/request.js';
import { docsPage } from '../../../src/adapters/http/docs-page/docs-page.js';
import {
  DEFAULT_HTTP_SETTINGS,
  type HttpSettings,
} from '../../../src/adapters/http/http-settings.js';
import { readDocsFiles } from '../../../src/adapters/http/node/docs-files.js';
import { documentFor, operationsOf } from '../../open-api/document.js';

const page = (settings: Partial<HttpSettings> = {}): string =>
  docsPage({ ...DEFAULT_HTTP_SETTINGS, ...settings });

const articleOf = (id: string, html: string): string =>
  html.slice(html.indexOf(`<article class="operation" id="${id}"`)).split('</article>', 1)[0] ?? '';

describe('The docs page as HTML', () => {
  const experimental = ['changeStatus', 'removePet'] as const;
  const document = documentFor({ experimental });
  for (const { operationId, parameters = [], responses } of Object.values(operationsOf(document))) {
    it(`has every parameter, success and error of ${operationId}`, () => {
      const html = articleOf(operationId, page({ experimental }));
      for (const { name } of parameters) expect(html).to.include(` name="${name}" `);
      expect(html).to.include(`>${Object.keys(responses)[0]}</b>`);
      for (const code of Object.values(responses).flatMap(
        (response) => response['x-error-codes'] ?? [],
      ))
        expect(page({ experimental })).to.include(`<div id="${code}">`);
    });
  }

  it('describes every error without a detail that only a response has', () => {
    const html = page();
    expect(
      html.slice(html.indexOf('<section id="errors">'), html.indexOf('<section id="schemas">')),
    ).to.not.include('{');
  });

  it('has every schema once, with what it says of each member', () => {
    const html = page({ experimental });
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
      const [, shown = '', again] = html.split(`id="${name}"`);
      expect(again).to.equal(undefined);
      for (const { description } of Object.values(properties))
        expect(shown.replaceAll(/<[^>]+>/g, '')).to.include(description.replaceAll('`', ''));
    }
    expect(html).to.match(/ id="PetStatus">[^]*one of available, pending, sold/);
  });

  it('marks experimental operations, and knows nothing of those that are not served', () => {
    expect(articleOf('removePet', page({ experimental }))).to.include(
      '<span class="hint">experimental</span>',
    );
    const html = page({ experimental: ['removePet'] });
    expect(html).to.include('id="removePet"').and.include('status_conflict');
    for (const name of ['changeStatus', 'StatusChange', 'PATCH']) expect(html).to.not.include(name);
    for (const name of ['removePet', 'status_conflict', 'pets:delete'])
      expect(page()).to.not.include(name);
  });

  it('shows an example that JavaScript numbers would round', () => {
    expect(articleOf('createPet', page())).to.include('categoryId&#34;: 9223372036854775807');
  });

  it('shows the whole path of an operation, and fills in no parameter that is optional', () => {
    const html = articleOf('listPets', page({ basePath: '/shop/v1' }));
    expect(html)
      .to.include('<b>GET</b> /shop/v1/pets<')
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

  it('labels every field and describes it, and has a place for every link', () => {
    const html = page({ experimental });
    const named = (pattern: RegExp): string[] =>
      Array.from(html.matchAll(pattern), ([, name = '']) => name);
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
  const listPets = { method: 'GET', path: '/pets' };

  it('has the filled-in fields, encoded, and omits empty ones', () => {
    const fields = [
      { name: 'limit', in: 'query', value: '+5' },
      { name: 'status', in: 'query', value: 'x&y=z#' },
      { name: 'after', in: 'query', value: '' },
      { name: 'If-None-Match', in: 'header', value: '"tag"' },
      { name: 'X-Empty', in: 'header', value: '' },
    ];
    expect(prepareRequest(listPets, 'http://a/v1', fields, undefined)).to.deep.equal({
      method: 'GET',
      url: 'http://a/v1/pets?limit=%2B5&status=x%26y%3Dz%23',
      headers: [['If-None-Match', '"tag"']],
      body: undefined,
    });
  });

  it('keeps a path parameter in its segment', () => {
    const getPet = { method: 'GET', path: '/pets/{petId}' };
    const url = (value: string): string =>
      prepareRequest(getPet, 'http://a/v1', [{ name: 'petId', in: 'path', value }], undefined).url;
    expect(url('../x?y')).to.equal('http://a/v1/pets/..%2Fx%3Fy');
    expect(url("$&$'")).to.equal("http://a/v1/pets/%24%26%24'");
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
    expect(curlSample({ method: 'DELETE', url: 'http://a/', headers: [] })).to.match(/ -X DELETE$/);
  });
});
