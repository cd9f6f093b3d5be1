import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import {
  curlSample,
  prepareRequest,
  type PreparedRequest,
} from '../../../../src/adapters/http/docs-page/browser/request.js';

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
