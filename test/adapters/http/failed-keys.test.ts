import { mock } from 'node:test';
import { expect } from 'chai';
import type { HttpRequest } from '../../../src/adapters/http/index.js';
import type { Authenticator } from '../../../src/application/ports/authenticator.js';
import { KEY, anyKey, httpInterface, outcome, requestWith } from './fixtures.js';

const guess = (remoteAddress?: string): HttpRequest =>
  requestWith({ authorization: 'Bearer guess' }, { remoteAddress });

describe('Invalid keys', () => {
  const authenticator: Authenticator = {
    authenticate: async (credential) =>
      credential === 'any' ? anyKey.authenticate(credential) : { ok: false, reason: 'unknown' },
  };
  let elapsed: number;
  beforeEach(() => {
    elapsed = 1000;
    mock.method(performance, 'now', () => elapsed);
  });
  afterEach(() => mock.restoreAll());

  const REFUSED = '401 invalid_api_key';
  const LIMITED = '503 service_unavailable';

  /** How many guesses get 401 before one gets 503, of 2,000 at most. */
  async function guesses(http: ReturnType<typeof httpInterface>, address?: string): Promise<number> {
    for (let count = 0; count < 2000; count += 1) {
      const response = await http.handle(guess(address));
      if (outcome(response) !== REFUSED) {
        expect(outcome(response)).to.equal(LIMITED);
        expect(response.headers).to.include({ 'Retry-After': '1' });
        expect(response.headers).to.not.have.any.keys('WWW-Authenticate', 'RateLimit');
        return count;
      }
    }
    return 2000;
  }

  it('of one address get 401 a thousand times at once and 20 times a second, and 503 beyond', async () => {
    const http = httpInterface({ authenticator });
    expect(await guesses(http, '192.0.2.1')).to.equal(1000);
    elapsed += 1000;
    expect(await guesses(http, '192.0.2.1')).to.equal(20);
    elapsed += 60_000;
    expect(await guesses(http, '192.0.2.1')).to.equal(1000);
  });

  it('never cost a valid key of the same address, or an invalid one of another, its answer', async () => {
    const http = httpInterface({ authenticator });
    await guesses(http, '192.0.2.1');
    expect(outcome(await http.handle(requestWith(KEY, { remoteAddress: '192.0.2.1' })))).to.equal('200');
    const withoutKey = requestWith({}, { remoteAddress: '192.0.2.1' });
    expect(outcome(await http.handle(withoutKey))).to.equal('401 missing_api_key');
    expect(outcome(await http.handle(guess('192.0.2.2')))).to.equal(REFUSED);
  });

  it('in a repeated header count too', async () => {
    const http = httpInterface({ authenticator });
    await guesses(http, '192.0.2.1');
    const twice = requestWith({ authorization: 'Bearer a, Bearer b' }, { remoteAddress: '192.0.2.1' });
    expect(outcome(await http.handle(twice))).to.equal(LIMITED);
  });

  it('are counted together for the first half of an IPv6 address', async () => {
    const http = httpInterface({ authenticator });
    for (const [one, same, other] of [
      ['2001:db8::1', '2001:db8::5:6:7:8', '2001:db8:0:1::1'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:3:3:4:5:6'],
      ['::1', '::2', '1::1'],
      ['fe80::1%eth0', 'fe80::2', 'fe80:0:0:1::1'],
      ['::ffff:192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
    ] as const) {
      await guesses(http, one);
      expect(outcome(await http.handle(guess(same))), same).to.equal(LIMITED);
      expect(outcome(await http.handle(guess(other))), other).to.equal(REFUSED);
    }
  });

  it('are not counted where the address is unknown', async () => {
    expect(await guesses(httpInterface({ authenticator }))).to.equal(2000);
  });

  it('are forgotten from the address that was silent for longest, beyond 10,000 addresses', async () => {
    const http = httpInterface({ authenticator });
    await guesses(http, 'first');
    await guesses(http, 'second');
    for (let number = 0; number < 9_998; number += 1) await http.handle(guess(`192.0.2.${number}`));
    expect(outcome(await http.handle(guess('first')))).to.equal(LIMITED);
    await http.handle(guess('another'));
    expect(outcome(await http.handle(guess('second')))).to.equal(LIMITED);
    expect(outcome(await http.handle(guess('first')))).to.equal(REFUSED);
  });
});
