import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  SettingsError,
  isLoopback,
  readSettings,
  type Environment,
  type Settings,
} from '../../src/bootstrap/settings.js';

/** The faults of an environment; none if it can be used. */
function faultsOf(environment: Environment): readonly string[] {
  try {
    readSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
}

/** The names of all settings: what is asked of the environment. */
function settingNames(): string[] {
  const names: string[] = [];
  const get = (_: object, name: string): undefined => void names.push(name);
  readSettings(new Proxy({}, { get }));
  return names;
}

const origins = (numbers: string): string =>
  `must be * or origins like https://animals.example, without a path: not so number ${numbers}`;

const integer = (minimum: number, maximum: number): string =>
  `must be an integer from ${minimum} to ${maximum}`;

describe('The settings', () => {
  it('are those of the README', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    const [, table = ''] = /\n\| setting [^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(readme) ?? [];
    const named = table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    expect(named).to.have.members(settingNames());
  });

  it('have a default each, for one laptop', () => {
    expect(readSettings({})).to.deep.equal({
      host: '127.0.0.1',
      port: 8080,
      http: {
        basePath: '/v1',
        publicUrl: undefined,
        stagingUrl: undefined,
        bodyLimit: 262_144,
        requestDeadline: 5_000,
        maxInFlight: 256,
        deprecatedSince: new Date('2026-11-20T00:00:00Z'),
        getPet: 'on',
        corsOrigins: [],
      },
      storeUrl: 'sqlite:data/animal-store.db',
      adapters: [],
      staticKeys: [],
      keyEnvironment: 'live',
      drainDelay: 0,
      shutdownDeadline: 25_000,
      logLevel: 'info',
      logFormat: 'auto',
    } satisfies Settings);
  });

  describe('take', () => {
    const TAKEN: ReadonlyArray<
      readonly [name: string, text: string, read: (of: Settings) => unknown, value: unknown]
    > = [
      ['HOST', '0.0.0.0', ({ host }) => host, '0.0.0.0'],
      ['HOST', '::1', ({ host }) => host, '::1'],
      ['HOST', '[::1]', ({ host }) => host, '::1'],
      ['PORT', '0', ({ port }) => port, 0],
      ['PORT', '65535', ({ port }) => port, 65_535],
      ['BASE_PATH', '/animals/of~the_shop.eu/v1', ({ http }) => http.basePath, '/animals/of~the_shop.eu/v1'],
      [
        'PUBLIC_URL',
        'https://example.org/shop/v1',
        ({ http }) => http.publicUrl,
        'https://example.org/shop/v1',
      ],
      [
        'STAGING_URL',
        'http://staging.example.org/v1',
        ({ http }) => http.stagingUrl,
        'http://staging.example.org/v1',
      ],
      ['BODY_LIMIT', '1mb', ({ http }) => http.bodyLimit, 1_048_576],
      ['REQUEST_DEADLINE', '1ms', ({ http }) => http.requestDeadline, 1],
      ['MAX_IN_FLIGHT', '1', ({ http }) => http.maxInFlight, 1],
      ['MAX_IN_FLIGHT', '100000', ({ http }) => http.maxInFlight, 100_000],
      [
        'DEPRECATED_SINCE',
        '2027-01-31',
        ({ http }) => http.deprecatedSince,
        new Date('2027-01-31T00:00:00Z'),
      ],
      // RFC 9745, 4: the sunset must not be before it, and may be the same.
      [
        'DEPRECATED_SINCE',
        '2030-12-05',
        ({ http }) => http.deprecatedSince,
        new Date('2030-12-05T00:00:00Z'),
      ],
      ['GET_PET', 'off', ({ http }) => http.getPet, 'off'],
      ['CORS_ORIGINS', '*', ({ http }) => http.corsOrigins, ['*']],
      [
        'CORS_ORIGINS',
        'https://one.example, http://localhost:5173',
        ({ http }) => http.corsOrigins,
        ['https://one.example', 'http://localhost:5173'],
      ],
      ['STORE_URL', 'memory:', ({ storeUrl }) => storeUrl, 'memory:'],
      ['STORE_URL', 'sqlite:/a b/c,d.db', ({ storeUrl }) => storeUrl, 'sqlite:/a b/c,d.db'],
      ['STORE_URL', 'x+y.z-1://h/p?q', ({ storeUrl }) => storeUrl, 'x+y.z-1://h/p?q'],
      [
        'ADAPTERS',
        ' ./one.js,@scope/two ,\n/three.js,',
        ({ adapters }) => adapters,
        ['./one.js', '@scope/two', '/three.js'],
      ],
      ['KEY_ENVIRONMENT', 'staging2', ({ keyEnvironment }) => keyEnvironment, 'staging2'],
      ['DRAIN_DELAY', '10s', ({ drainDelay }) => drainDelay, 10_000],
      ['DRAIN_DELAY', '0', ({ drainDelay }) => drainDelay, 0],
      ['SHUTDOWN_DEADLINE', '1m', ({ shutdownDeadline }) => shutdownDeadline, 60_000],
      ['LOG_LEVEL', 'trace', ({ logLevel }) => logLevel, 'trace'],
      ['LOG_LEVEL', 'silent', ({ logLevel }) => logLevel, 'silent'],
      ['LOG_FORMAT', 'json', ({ logFormat }) => logFormat, 'json'],
      ['LOG_FORMAT', 'pretty', ({ logFormat }) => logFormat, 'pretty'],
      ['API_KEYS', 'one', ({ staticKeys }) => staticKeys, ['one']],
      ['API_KEYS', 'one, two\r\nthree\n\n,', ({ staticKeys }) => staticKeys, ['one', 'two', 'three']],
      ['API_KEYS', 'a-._~+/9==', ({ staticKeys }) => staticKeys, ['a-._~+/9==']],
      ['API_KEYS', ' , \n', ({ staticKeys }) => staticKeys, []],
      ['API_KEY', 'one,two', ({ staticKeys }) => staticKeys, ['one', 'two']],
    ];
    for (const [name, text, read, value] of TAKEN) {
      it(`${name}=${JSON.stringify(text)}`, () => {
        expect(read(readSettings({ [name]: text }))).to.deep.equal(value);
      });
    }
  });

  it('that are empty count as not set', () => {
    const empty = Object.fromEntries(settingNames().map((name) => [name, '']));
    expect(readSettings(empty)).to.deep.equal(readSettings({}));
  });

  it('leave time to drain where others reach the service, and none where only this machine does', () => {
    expect(readSettings({ HOST: '0.0.0.0' }).drainDelay).to.equal(5_000);
    expect(readSettings({ HOST: 'localhost' }).drainDelay).to.equal(0);
    expect(readSettings({ HOST: '0.0.0.0', DRAIN_DELAY: '1s' }).drainDelay).to.equal(1_000);
  });

  describe('name what is wrong:', () => {
    const DURATION = 'must be a duration like 500ms, 5s, 2m, 24h or 90d';
    const SIZE = 'must be a size from 1b to 16mb, like 256kb';
    const DATE = 'must be a date like 2026-11-20';
    const PATH = 'must be a path like /v1 or /animals/v1, its last segment v1';
    const ADDRESS = 'must be an http or https URL that ends in /v1, without a query';
    const SCHEME = 'must begin with the scheme of a store, as in sqlite:data/animal-store.db or memory:';
    const WRONG: ReadonlyArray<readonly [name: string, fault: string, ...texts: string[]]> = [
      ['HOST', 'must be a host name or an address', 'http://localhost', 'a b', ' ', '127.0.0.1/8'],
      ['PORT', integer(0, 65_535), '65536', '-1', '80.0', '8e1', 'http', ' 80', '0x50', '1000000000000'],
      [
        'BASE_PATH',
        PATH,
        'v1',
        '/',
        '/v2',
        '/v1/',
        '/V1',
        '/a b/v1',
        '//v1',
        '/a?b/v1',
        '/v1?x',
        '/av1',
        '/é/v1',
      ],
      [
        'PUBLIC_URL',
        ADDRESS,
        'example.org/v1',
        'ftp://example.org/v1',
        'https://example.org/',
        'https://example.org/v1/',
      ],
      [
        'PUBLIC_URL',
        ADDRESS,
        'https://me:secret@example.org/v1',
        'https://example.org/v1?a=b',
        'https://example.org/v1#a',
      ],
      [
        'STAGING_URL',
        ADDRESS,
        'staging.example.org/v1',
        'https://staging.example.org',
        'https://a:b@example.org/v1',
      ],
      ['PUBLIC_URL', ADDRESS, 'https://example.org/v1?', 'https://example.org/a b/v1', 'https:///v1\n'],
      ['BODY_LIMIT', SIZE, '0', '0kb', '17mb', '16777217', '1.5mb', '-1', 'kb', '1gb', '256 kb'],
      ['REQUEST_DEADLINE', DURATION, '5', 'soon', '-5s', '1.5s'],
      ['REQUEST_DEADLINE', 'must be from 1ms to 24d', '0', '0ms', '25d', '999999999d'],
      ['MAX_IN_FLIGHT', integer(1, 100_000), '0', '100001', 'all'],
      [
        'DEPRECATED_SINCE',
        DATE,
        'tomorrow',
        '2026-13-01',
        '2026-02-30',
        '20261120',
        '1795132800',
        '2026-11-20 10:00',
      ],
      [
        'DEPRECATED_SINCE',
        'must not be after the sunset of the operation (RFC 9745, 4)',
        '2030-12-06',
        '9999-12-31',
      ],
      ['GET_PET', 'must be one of on, off', 'true', 'ON', 'gone'],
      [
        'CORS_ORIGINS',
        origins('1'),
        'one.example',
        'https://one.example/',
        'https://one.example:443',
        'HTTPS://one.example',
        'https://One.example',
        'null',
        'https://*.example',
        'file:///a',
        'https://me:secret@one.example',
      ],
      ['CORS_ORIGINS', origins('2, 3'), 'https://one.example,*,two'],
      ['STORE_URL', SCHEME, 'data/animal-store.db', ':memory:', 'SQLITE:a.db', '1a:', ' memory:'],
      [
        'KEY_ENVIRONMENT',
        'must be 1 to 16 lower-case letters (a-z) and digits',
        'Live',
        'a_b',
        'a'.repeat(17),
      ],
      ['DRAIN_DELAY', DURATION, '-1s', '5'],
      ['DRAIN_DELAY', 'must be from 0ms to 24d', '25d'],
      ['SHUTDOWN_DEADLINE', 'must be from 1ms to 24d', '0'],
      ['LOG_LEVEL', 'must be one of trace, debug, info, warn, error, fatal, silent', 'verbose', 'INFO'],
      ['LOG_FORMAT', 'must be one of auto, pretty, json', 'text'],
      [
        'API_KEYS',
        'holds keys that are not bearer tokens (RFC 6750): number 1',
        'a b',
        '"quoted"',
        'schlüssel',
        '=',
      ],
      ['API_KEYS', 'holds keys that are not bearer tokens (RFC 6750): number 2, 4', 'one,t wo,three\nf!ve'],
      ['API_KEY', 'holds keys that are not bearer tokens (RFC 6750): number 1', 'a b'],
    ];
    for (const [name, fault, ...texts] of WRONG) {
      for (const text of texts) {
        it(`${name}=${JSON.stringify(text)}`, () => {
          expect(faultsOf({ [name]: text })).to.deep.equal([`${name} ${fault}`]);
        });
      }
    }

    it('all at once', () => {
      const environment: Record<string, string> = {};
      for (const [name, , ...texts] of WRONG) environment[name] = texts[0] ?? '';
      const named = faultsOf(environment).map((fault) => fault.split(' ', 1)[0]);
      expect(named).to.have.members(Object.keys(environment));
    });

    it('in one message, a line each', () => {
      expect(() => readSettings({ PORT: 'a', GET_PET: 'b' })).to.throw(
        SettingsError,
        'PORT must be an integer from 0 to 65535\nGET_PET must be one of on, off',
      );
    });

    it('and never tell what stands in a setting that may hold a secret', () => {
      const secret = 'hunter2 hunter2';
      const faults = faultsOf({
        API_KEY: secret,
        API_KEYS: `good,${secret}`,
        STORE_URL: `//user:${secret}@host`,
        PUBLIC_URL: `https://user:${secret}@example.org/v1`,
        KEY_ENVIRONMENT: secret,
        API_KEYS_FILE: secret,
      });
      expect(faults).to.have.length(6);
      expect(faults.join('\n')).to.not.include('hunter2');
    });
  });

  describe('with API_KEYS_FILE', () => {
    let folder: string;
    let file: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'animal-store-settings-'));
      file = join(folder, 'keys');
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('take the keys in it, beside those of API_KEYS and API_KEY', () => {
      writeFileSync(file, 'five\n\n six , seven\r\n');
      const settings = readSettings({ API_KEYS: 'one,two', API_KEY: 'three', API_KEYS_FILE: file });
      expect(settings.staticKeys).to.deep.equal(['one', 'two', 'three', 'five', 'six', 'seven']);
    });

    it('name the wrong keys in it by their numbers only', () => {
      writeFileSync(file, 'one\nsec ret\n');
      expect(faultsOf({ API_KEYS_FILE: file })).to.deep.equal([
        'API_KEYS_FILE holds keys that are not bearer tokens (RFC 6750): number 2',
      ]);
    });

    it('are not to be missing in it', () => {
      writeFileSync(file, ' \n,\n');
      expect(faultsOf({ API_KEYS_FILE: file })).to.deep.equal([
        'API_KEYS_FILE names a file that holds no key',
      ]);
    });

    it('say why it cannot be read', () => {
      expect(faultsOf({ API_KEYS_FILE: file })).to.deep.equal([
        'API_KEYS_FILE names a file that cannot be read (ENOENT)',
      ]);
      expect(faultsOf({ API_KEYS_FILE: folder })).to.deep.equal([
        'API_KEYS_FILE names a file that cannot be read (EISDIR)',
      ]);
    });
  });
});

describe('isLoopback', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '::1', '[::1]']) {
    it(`holds for ${host}`, () => {
      expect(isLoopback(host)).to.equal(true);
    });
  }
  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.0.1',
    '127.0.0.1.example.org',
    'localhost.example.org',
    '128.0.0.1',
  ]) {
    it(`does not hold for ${host}, which others may reach`, () => {
      expect(isLoopback(host)).to.equal(false);
    });
  }
});
