import { expect } from 'chai';
import { splitRequestTarget } from '../../../src/adapters/http/request/request-target.js';

describe('splitRequestTarget', () => {
  const SPLIT: ReadonlyArray<readonly [target: string, path: string, query: string]> = [
    ['/v1/pets', '/v1/pets', ''],
    ['/v1/pets?', '/v1/pets', ''],
    ['/v1/pets?limit=1', '/v1/pets', 'limit=1'],
    ['/v1/pets?a=?&b=/?', '/v1/pets', 'a=?&b=/?'],
    ['/?', '/', ''],
    ['*', '*', ''],
    ['', '', ''],
    // Nothing is decoded, resolved or merged.
    ['/v1/../v1//pets/%2e%2E/%3F?x=%20+', '/v1/../v1//pets/%2e%2E/%3F', 'x=%20+'],
    ['//host/v1/pets', '//host/v1/pets', ''],
    ['/http://host/v1', '/http://host/v1', ''],
    ['/v1/pets#top', '/v1/pets#top', ''],
    // Absolute-form.
    ['http://host/v1/pets?a=1', '/v1/pets', 'a=1'],
    ['HTTPS://me@host:80/v1/pets', '/v1/pets', ''],
    ['http://[::1]:8080/v1', '/v1', ''],
    ['http://host', '', ''],
    ['http://host?a=/b', '', 'a=/b'],
    // Not of HTTP, or of nobody.
    ['coap+tcp://host/v1', 'coap+tcp://host/v1', ''],
    ['ftp://host/v1/pets?a', 'ftp://host/v1/pets', 'a'],
    ['http:///v1/pets', 'http:///v1/pets', ''],
    ['http://?a', 'http://', 'a'],
    // Neither.
    ['v1/pets?a', 'v1/pets', 'a'],
    ['?http://host/v1', '', 'http://host/v1'],
  ];
  for (const [target, path, query] of SPLIT) {
    it(`splits ${JSON.stringify(target)}`, () => {
      expect(splitRequestTarget(target)).to.deep.equal({ path, query });
    });
  }
});
