import { expect } from 'chai';
import { OPERATIONS, deprecationHeaders } from '../../../src/adapters/http/operations.js';

const deprecatedSince = (time: string): string | undefined =>
  deprecationHeaders(OPERATIONS.getPet.deprecation, new Date(time), '/v1')['Deprecation'];

describe('The headers of a deprecated operation', () => {
  const since = new Date('2026-11-20T00:00:00Z');

  it('are those that the interface promises for getPet', () => {
    expect(deprecationHeaders(OPERATIONS.getPet.deprecation, since, '/v1')).to.deep.equal({
      Deprecation: '@1795132800',
      Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      Link: '</v1/pets?status=available>; rel="successor-version"',
    });
  });

  it('say the time of deprecation in whole seconds, as RFC 9745 asks', () => {
    expect(deprecatedSince('2026-11-20T00:00:00.999Z')).to.equal('@1795132800');
    expect(deprecatedSince('1969-12-31T23:59:59.500Z')).to.equal('@-1');
  });

  it('lead to the successor by the address that clients use', () => {
    const { deprecation } = OPERATIONS.getPet;
    expect(deprecationHeaders(deprecation, since, 'https://example.org/shop/v1')['Link']).to.equal(
      '<https://example.org/shop/v1/pets?status=available>; rel="successor-version"',
    );
  });
});
