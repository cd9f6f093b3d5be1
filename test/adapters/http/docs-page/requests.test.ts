import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Operation, Parameter } from '../../../../src/adapters/http/docs-page/interface-document.js';
import { curlLine, linkTarget, prepareRequest } from '../../../../src/adapters/http/docs-page/requests.js';

const parameter = (name: string, place: string, required = false): Parameter => ({
  name,
  place,
  required,
  description: '',
  schema: {},
  example: '',
});

const operation = (method: string, path: string, ...parameters: Parameter[]): Operation => ({
  id: 'any',
  method,
  path,
  summary: '',
  description: '',
  deprecation: undefined,
  stability: '',
  parameters,
  body:
    method === 'POST'
      ? { mediaType: 'application/json', required: true, description: '', schema: {}, examples: [] }
      : undefined,
  answers: [],
});

const BASE = new URL('https://animals.example/v1/');
const hasShell = spawnSync('sh', ['-c', 'true']).status === 0;

describe('A request that the docs page prepares', () => {
  const list = operation('GET', '/pets', parameter('limit', 'query'), parameter('a b', 'query'));

  it('has what is filled in, encoded, and leaves out what is not', () => {
    const TYPED: ReadonlyArray<readonly [limit: string, other: string, query: string]> = [
      ['', '', ''],
      ['7', '', '?limit=7'],
      ['+5', 'x&y=z#', '?limit=%2B5&a%20b=x%26y%3Dz%23'],
    ];
    for (const [limit, other, query] of TYPED) {
      const { url } = prepareRequest(list, BASE, ({ name }) => (name === 'limit' ? limit : other));
      expect(url).to.equal(`https://animals.example/v1/pets${query}`);
    }
  });

  it('has its path filled in, whatever is typed', () => {
    const get = operation('GET', '/pets/{petId}', parameter('petId', 'path', true));
    expect(prepareRequest(get, BASE, () => '../x?y').url).to.equal(
      'https://animals.example/v1/pets/..%2Fx%3Fy',
    );
    expect(prepareRequest(get, BASE, () => "$&$'").url).to.equal(
      "https://animals.example/v1/pets/%24%26%24'",
    );
  });

  it('has its headers and its body', () => {
    const create = operation('POST', '/pets', parameter('Idempotency-Key', 'header'));
    expect(prepareRequest(create, new URL('http://a/v1'), () => 'k-1', '{}')).to.deep.equal({
      method: 'POST',
      url: 'http://a/v1/pets',
      headers: [
        ['Idempotency-Key', 'k-1'],
        ['Content-Type', 'application/json'],
      ],
      body: '{}',
    });
    expect(prepareRequest(create, BASE, () => '', '{}').headers).to.deep.equal([
      ['Content-Type', 'application/json'],
    ]);
  });

  it('is told as a curl line', () => {
    expect(curlLine(prepareRequest(list, BASE, () => ''))).to.equal(
      `curl 'https://animals.example/v1/pets' \\\n  -H "Authorization: Bearer $KEY"`,
    );
    expect(curlLine({ method: 'DELETE', url: 'http://a/', headers: [] })).to.match(/ -X DELETE$/);
  });

  (hasShell ? it : it.skip)('is told so that a shell takes every character for what it is', async () => {
    const body = `@{"name":"O'Hara \\ $KEY \`ls\` !!\n'''"}`;
    const line = curlLine({ method: 'POST', url: "http://a/?q='$(x)", headers: [['X', "it's"]], body });
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', line.replace(/^curl/, String.raw`printf '%s\0'`)],
      {
        env: { KEY: 'the key' },
      },
    );
    expect(stdout.split('\0')).to.deep.equal([
      "http://a/?q='$(x)",
      '-H',
      'Authorization: Bearer the key',
      '-H',
      "X: it's",
      '--data-raw',
      body,
      '',
    ]);
  });
});

describe('A Link header', () => {
  const FOUND: ReadonlyArray<readonly [header: string | null, target: string | undefined]> = [
    ['</v1/pets?limit=1&cursor=ab>; rel="next"', '/v1/pets?limit=1&cursor=ab'],
    ['</a>; rel=next', '/a'],
    ['</a>; rel="prev next"', '/a'],
    ['</a>; rel="successor-version", </b>; title="x, y"; rel="next"', '/b'],
    ['</a,b>;rel=NEXT', '/a,b'],
    ['</a>; rel="successor-version"', undefined],
    ['</a>; rel="nextest"', undefined],
    ['', undefined],
    [null, undefined],
  ];
  for (const [header, target] of FOUND) {
    it(`${header ?? 'that is not there'} leads to ${target ?? 'no next page'}`, () => {
      expect(linkTarget(header, 'next')).to.equal(target);
    });
  }
});
