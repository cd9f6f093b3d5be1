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
      const used = counted.push(keyId) - counted.findLastIndex((id) => id !== keyId) - 1;
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

describe('A rate limit', () => {
  it('tells each key what is left, and refuses its further requests with 429, which store nothing', async () => {
    const http = httpInterface({ rateLimiter: limiterOf(2) });
    const created = await http.handle(createWith(REX));
    expect(created.headers).to.include({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: '"default";r=1;t=3',
    });
    const unchanged = requestWith({ ...KEY, 'if-none-match': '*' });
    const { status, headers } = await http.handle(unchanged);
    expect([status, headers['RateLimit']]).to.deep.equal([304, '"default";r=0;t=3']);
    const refused = await http.handle(createWith(REX));
    expect(outcome(refused)).to.equal('429 rate_limited');
    expect(refused.headers).to.include({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: '"default";r=0;t=3',
      'Retry-After': '3',
    });
    const other = await http.handle(requestWith({ authorization: 'Bearer other' }));
    expect([outcome(other), JSON.parse(other.body).length]).to.deep.equal(['200', 1]);
  });

  const busy: Partial<HttpInterfaceOptions> = {
    admission: new AdmissionControl({ maxInFlight: 0 }),
  };
  const refuseAll = 0;
  const off: Partial<HttpInterfaceOptions> = { settings: { getPet: 'off' } };
  const UNCOUNTED: Record<string, [HttpRequest, expected: string, Partial<HttpInterfaceOptions>?]> =
    {
      OPTIONS: [requestWith(KEY, { method: 'OPTIONS' }), '204'],
      'health checks': [requestWith(KEY, { path: '/livez' }), '200'],
      'the document': [requestWith(KEY, { path: '/openapi.json' }), '200'],
      'requests when busy': [LIST, '503 service_unavailable', busy],
      'requests without a key': [requestWith({}), '401 missing_api_key'],
      'unknown paths': [requestWith(KEY, { path: '/v1/orders' }), '404 route_not_found'],
      'other methods': [requestWith(KEY, { method: 'PUT' }), '405 method_not_allowed'],
      'a removed operation': [
        requestWith(KEY, { path: '/v1/pets/1' }),
        '410 operation_removed',
        off,
      ],
    };
  for (const [what, [request, expected, options]] of Object.entries(UNCOUNTED)) {
    it(`does not count ${what}`, async () => {
      const rateLimiter = limiterOf(refuseAll);
      const response = await httpInterface({ rateLimiter, ...options }).handle(request);
      expect([outcome(response), rateLimiter.counted]).to.deep.equal([expected, []]);
      expect(response.headers).to.not.have.any.keys('RateLimit', 'RateLimit-Policy');
    });
  }

  it('comes before the scope and everything of the operation, which count and carry its headers', async () => {
    const empty = requestWith(KEY, { method: 'POST' });
    for (const [request, expected] of [
      [createWith(REX), '403 insufficient_scope'],
      [requestWith(KEY, { query: 'limit=0' }), '400 invalid_parameter'],
      [requestWith(KEY, { path: '/v1/pets/abc' }), '404 pet_not_found'],
    ] as const) {
      const http = httpInterface({ authenticator: reader, rateLimiter: limiterOf(1) });
      const within = await http.handle(request);
      expect(outcome(within)).to.equal(expected);
      expect(within.headers).to.include({ RateLimit: '"default";r=0;t=3' });
      const beyond = httpInterface({ authenticator: reader, rateLimiter: limiterOf(refuseAll) });
      expect(outcome(await beyond.handle(request))).to.equal('429 rate_limited');
      expect(outcome(await beyond.handle(empty))).to.equal('429 rate_limited');
    }
  });

  it('that cannot count makes the response 503', async () => {
    const rateLimiter: RateLimiter = {
      limit: { requests: 1, seconds: 1 },
      take: () => Promise.reject(new UnavailableError('counting')),
    };
    const response = await httpInterface({ rateLimiter }).handle(LIST);
    expect(outcome(response)).to.equal('503 service_unavailable');
  });

  it('stands in the document of the interface that has it', async () => {
    const settings = { rateLimit: { requests: 9, seconds: 9 } };
    const document = requestWith({}, { path: '/openapi.json' });
    const limited = await httpInterface({ settings, rateLimiter: limiterOf(7) }).handle(document);
    expect(limited.body).to.include('may send 7 requests in 60 s');
    expect((await httpInterface({ settings }).handle(document)).body).to.not.include('429');
  });
});
