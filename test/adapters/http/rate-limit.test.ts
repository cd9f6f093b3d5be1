import { expect } from 'chai';
import type {
  HttpRequest,
  HttpInterfaceOptions,
  RateLimiter,
} from '../../../src/adapters/http/index.js';
import { AdmissionControl } from '../../../src/adapters/http/node/index.js';
import type { Authenticator } from '../../../src/application/ports/authenticator.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { KEY, REX, createWith, httpInterface, outcome, requestWith } from './fixtures.js';

/** Allows each key this many requests, and records which keys it counted. */
function limiterOf(requests: number): RateLimiter & { readonly counted: string[] } {
  const counted: string[] = [];
  return {
    limit: { requests, seconds: 60 },
    counted,
    async take(keyId) {
      counted.push(keyId);
      const used = counted.filter((id) => id === keyId).length;
      return {
        allowed: used <= requests,
        remaining: Math.max(0, requests - used),
        resetsIn: 2_001,
      };
    },
  };
}

const reader: Authenticator = {
  authenticate: async (keyId) => ({
    ok: true,
    principal: { keyId, scopes: new Set(['pets:read']) },
  }),
};
const LIST = requestWith(KEY);

const THREE_SECONDS = 't=3'; // 2,001 ms, rounded up;

describe('A rate limit', () => {
  it('tells each key what is left, and refuses further requests, which store nothing', async () => {
    const http = httpInterface({ rateLimiter: limiterOf(2) });
    const unchanged = requestWith({ ...KEY, 'if-none-match': '*' });

    const created = await http.handle(createWith(REX));
    const { status, headers } = await http.handle(unchanged);
    const refused = await http.handle(createWith(REX));
    const other = await http.handle(requestWith({ authorization: 'Bearer other' }));

    expect(created.headers).to.include({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: `"default";r=1;${THREE_SECONDS}`,
    });
    expect([status, headers['RateLimit']]).to.deep.equal([304, `"default";r=0;${THREE_SECONDS}`]);
    expect(outcome(refused)).to.equal('429 rate_limited');
    expect(refused.headers).to.include({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: `"default";r=0;${THREE_SECONDS}`,
      'Retry-After': '3',
    });
    expect(outcome(other)).to.equal('200');
    expect(JSON.parse(other.body), 'stored animals').to.have.length(1);
  });

  const refuseAll = 0;
  for (const [what, request, expected, options] of [
    ['OPTIONS', requestWith(KEY, { method: 'OPTIONS' }), '204'],
    ['health checks', requestWith(KEY, { path: '/livez' }), '200'],
    ['the document', requestWith(KEY, { path: '/openapi.json' }), '200'],
    [
      'requests when busy',
      LIST,
      '503 service_unavailable',
      { admission: new AdmissionControl({ maxInFlight: 0 }) },
    ],
    ['requests without a key', requestWith({}), '401 missing_api_key'],
    ['unknown paths', requestWith(KEY, { path: '/v1/orders' }), '404 route_not_found'],
    ['other methods', requestWith(KEY, { method: 'PUT' }), '405 method_not_allowed'],
    [
      'a removed operation',
      requestWith(KEY, { path: '/v1/pets/1' }),
      '410 operation_removed',
      { settings: { getPet: 'off' } },
    ],
  ] as ReadonlyArray<[string, HttpRequest, string, Partial<HttpInterfaceOptions>?]>) {
    it(`does not count ${what}`, async () => {
      const rateLimiter = limiterOf(refuseAll);

      const response = await httpInterface({ rateLimiter, ...options }).handle(request);

      expect(outcome(response)).to.equal(expected);
      expect(rateLimiter.counted, 'counted keys').to.deep.equal([]);
      expect(response.headers).to.not.have.any.keys('RateLimit', 'RateLimit-Policy');
    });
  }

  for (const [what, request, expected, authenticator] of [
    ['the scope', createWith(REX), '403 insufficient_scope', reader],
    ['the query', requestWith(KEY, { query: 'limit=0' }), '400 invalid_parameter'],
    ['the id', requestWith(KEY, { path: '/v1/pets/abc' }), '404 pet_not_found'],
    ['the body', createWith(''), '400 missing_body'],
  ] as ReadonlyArray<[string, HttpRequest, string, Authenticator?]>) {
    it(`comes before ${what}, whose error counts and carries its headers`, async () => {
      const rateLimiter = limiterOf(1);
      const http = httpInterface({ rateLimiter, ...(authenticator && { authenticator }) });

      const within = await http.handle(request);
      const beyond = await http.handle(request);

      expect(outcome(within)).to.equal(expected);
      expect(within.headers).to.include({ RateLimit: `"default";r=0;${THREE_SECONDS}` });
      expect(outcome(beyond)).to.equal('429 rate_limited');
    });
  }

  it('that cannot count makes the response 503', async () => {
    const rateLimiter: RateLimiter = {
      limit: { requests: 1, seconds: 1 },
      take: () => Promise.reject(new UnavailableError('counting')),
    };

    const response = await httpInterface({ rateLimiter }).handle(LIST);

    expect(outcome(response)).to.equal('503 service_unavailable');
  });

  it('stands in the document of the interface that has it, and only there', async () => {
    const settings = { rateLimit: { requests: 9, seconds: 9 } };
    const document = requestWith({}, { path: '/openapi.json' });

    const limited = await httpInterface({ settings, rateLimiter: limiterOf(7) }).handle(document);
    const unlimited = await httpInterface({ settings }).handle(document);

    expect(limited.body).to.include('may send 7 requests in 60 s');
    expect(unlimited.body).to.not.include('429');
  });
});
