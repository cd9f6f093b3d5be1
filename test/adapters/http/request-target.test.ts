import { expect } from 'chai';
import { splitRequestTarget } from '../../../src/adapters/http/http-message.js';

describe('splitRequestTarget', () => {
  for (const [target, path, query] of [
    ['/v1/pets?', '/v1/pets', ''],
    ['*', '*', ''],
    ['/v1/../v1//pets/%2e%2E/%3F?x=%20+', '/v1/../v1//pets/%2e%2E/%3F', 'x=%20+'],
    ['/a://b/c', '/a://b/c', ''],
    ['HTTPS://me:secret@[::1]:80/v1/pets', '/v1/pets', ''],
    ['http://host', '/', ''],
    ['http://host?a=/b', '/', 'a=/b'],
  ] as const)
    it(`splits ${JSON.stringify(target)}`, () => {
      expect(splitRequestTarget(target)).to.deep.equal({ path, query });
    });
});
