import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_HTTP_SETTINGS } from '../../../src/adapters/http/http-settings.js';
import {
  SETTINGS,
  SettingsError,
  changedSettings,
  isLoopback,
  readSettings,
  type Environment,
  type Settings,
} from '../../../src/bootstrap/service/settings.js';
import { cleanUp, temporaryFolder } from '../../service/running-service.js';

/** The faults of an environment; none if it is valid. */
function faultsOf(environment: Environment, used?: readonly string[]): readonly string[] {
  try {
    readSettings(environment, used);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
}

/** What `configure` checks, since modules may bring stores. */
const CHECKED_LATER = ['STORE_URL', 'ADAPTERS'];

describe('The settings', () => {
  it('have defaults for one laptop', () => {
    // Not settings of the service: the second comes from the store.
    const { bodyDeadline: _, idempotencyKeys: __, ...http } = DEFAULT_HTTP_SETTINGS;
    expect(readSettings({})).to.deep.equal({
      host: '127.0.0.1',
      port: 8080,
      ...http,
      maxInFlight: 256,
      adminPort: undefined,
      trustedProxies: [],
      storeUrlFile: undefined,
      storeUrl: 'sqlite:data/animal-store.db',
      adapters: [],
      apiKeys: [],
      apiKeysFile: undefined,
      staticKeys: [],
      drainDelay: 0,
      shutdownDeadline: 25_000,
      logLevel: 'info',
      logFormat: 'auto',
    } satisfies Settings);
  });

  it('leave time to drain where others reach the service', () => {
    expect(readSettings({ HOST: '0.0.0.0' })).to.include({ drainDelay: 5000 });
    expect(readSettings({ HOST: '0.0.0.0', DRAIN_DELAY: '0' }).drainDelay).to.equal(0);
  });

  it('that are empty count as not set', () => {
    const empty = Object.fromEntries(SETTINGS.map(({ name }) => [name, '']));
    expect(readSettings(empty)).to.deep.equal(readSettings({}));
  });

  const VALID: ReadonlyArray<readonly [name: string, text: string, value: unknown]> = [
    ['HOST', '[::1]', '::1'],
    ['PORT', '065535', 65_535],
    ['BASE_PATH', '/animals/of~the_shop.eu/v1', '/animals/of~the_shop.eu/v1'],
    ['BASE_PATH', '/.well-known/..a/v1', '/.well-known/..a/v1'],
    ['PUBLIC_URL', 'HTTPS://Example.ORG/Shop/v1', 'https://example.org/Shop/v1'],
    ['STAGING_URL', 'https://bücher.example/v1', 'https://xn--bcher-kva.example/v1'],
    ['BODY_LIMIT', '1b', 1],
    ['BODY_LIMIT', '64KB', 65_536],
    ['BODY_LIMIT', '16mb', 16_777_216],
    ['REQUEST_DEADLINE', '1ms', 1],
    ['REQUEST_DEADLINE', '24d', 2_073_600_000],
    ['SHUTDOWN_DEADLINE', '2m', 120_000],
    ['DRAIN_DELAY', '3H', 10_800_000],
    ['MAX_IN_FLIGHT', '100000', 100_000],
    ['DEPRECATED_SINCE', '2028-02-29', new Date('2028-02-29T00:00:00Z')],
    ['DEPRECATED_SINCE', '2030-12-05', new Date('2030-12-05T00:00:00Z')],
    ['EXPERIMENTAL', 'removePet, changePet', ['removePet', 'changePet']],
    ['RATE_LIMIT', '100/10s', { requests: 100, seconds: 10 }],
    ['RATE_LIMIT', '999999999/1d', { requests: 999_999_999, seconds: 86_400 }],
    ['TRUSTED_PROXIES', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    ['CORS_ORIGINS', '*', ['*']],
    ['CORS_ORIGINS', 'https://a.example, http://b:1', ['https://a.example', 'http://b:1']],
    ...[
      'capacitor://localhost',
      'ionic://localhost',
      'tauri://localhost',
      'app://.',
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
      'safari-web-extension://9C1F5E0A-51F2-4A4C-A4A3-1F0B2E8D7C66',
      'x-app.v1+a://host:8080',
      'http://[::1]:8080',
      'file://',
    ].map((origin) => ['CORS_ORIGINS', origin, [origin]] as const),
    ['STORE_URL', 'sqlite:/a b/c,d.db', 'sqlite:/a b/c,d.db'],
    ['ADAPTERS', ' ./one.js,@scope/two ,\n/three.js,', ['./one.js', '@scope/two', '/three.js']],
    ['API_KEYS', 'one, two\r\nthree\n\n,', ['one', 'two', 'three']],
    ['API_KEYS', 'a-._~+/9==', ['a-._~+/9==']],
    ['API_KEYS', ' , \n', []],
  ];
  it('accept each value of the table', () => {
    for (const [name, text, value] of VALID) {
      const key = name
        .toLowerCase()
        .replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      expect(readSettings({ [name]: text }), `${name}=${text}`)
        .to.have.property(key)
        .that.deep.equals(value);
    }
  });

  describe('name what is wrong:', () => {
    const DURATION = 'must be a duration from 1ms to 24d, such as 5s';
    const SIZE = 'must be a size with a unit, from 1b to 16mb, such as 256kb';
    const DATE = 'must be a date such as 2026-11-20, not after the sunset of getPet';
    const PATH = 'must be a path that ends in /v1, such as /animals/v1';
    const ADDRESS = 'must be an http or https URL that ends in /v1, without user and query';
    const NETWORK = 'must hold IP addresses or networks such as 10.0.0.0/8:';
    const ORIGIN = 'must be * or origins such as https://animals.example:';
    const TOKEN = 'must hold bearer tokens (RFC 6750):';
    const LEVEL = 'must be one of trace, debug, info, warn, error, fatal, silent';
    const INTEGER = 'must be an integer from';
    const WRONG: ReadonlyArray<readonly [name: string, fault: string, texts: readonly string[]]> = [
      [
        'HOST',
        'must be a host name or an address',
        ['http://localhost', 'a b', ' ', '127.0.0.1/8'],
      ],
      [
        'PORT',
        `${INTEGER} 0 to 65535`,
        ['65536', '-1', '+1', '80.0', '8e1', 'http', ' 80', '0x50', '٣', '1\n'],
      ],
      ['ADMIN_PORT', `${INTEGER} 0 to 65535`, ['65536', 'off']],
      [
        'BASE_PATH',
        PATH,
        [
          'v1',
          '/',
          '/v2',
          '/v1/',
          '/V1',
          '/a b/v1',
          '//v1',
          '/v1?x',
          '/av1',
          '/é/v1',
          '/../v1',
          '/./v1',
          '/a/../v1',
        ],
      ],
      [
        'PUBLIC_URL',
        ADDRESS,
        [
          'example.org/v1',
          'ftp://example.org/v1',
          'https://a.b/',
          'https://a.b/v1/',
          'https://me:secret@a.b/v1',
          'https://a.b/v1?a=b',
          'https://a.b/v1#a',
        ],
      ],
      [
        'STAGING_URL',
        ADDRESS,
        ['a.b/v1', 'https://a.b/v1?', 'https://a.b/a b/v1', 'https:///v1\n'],
      ],
      [
        'BODY_LIMIT',
        SIZE,
        ['0', '64', '0kb', '17mb', '16777217', '1.5mb', '-1', 'kb', '1gb', '256 kb', '1valueOf'],
      ],
      [
        'REQUEST_DEADLINE',
        DURATION,
        ['5', 'soon', '-5s', '1.5s', '0', '0ms', '597h', '25d', '999999999d'],
      ],
      ['MAX_IN_FLIGHT', `${INTEGER} 1 to 100000`, ['0', '100001', 'all']],
      [
        'DEPRECATED_SINCE',
        DATE,
        [
          'tomorrow',
          '2026-13-01',
          '2026-02-29',
          '20261120',
          '1795132800',
          '2026-11-20T10:20:30Z',
          '2026-11',
          '+002026-11-20',
          ' 2026-11-20',
          '2030-12-06',
          '9999-12-31',
        ],
      ],
      ['GET_PET', 'must be one of on, off', ['true', 'ON', ' off', 'toString']],
      [
        'TRUSTED_PROXIES',
        `${NETWORK} entry 1 is not valid`,
        [
          'proxy',
          '10.0.0.0/33',
          '::1/129',
          '10.0.0.0/8/8',
          '10.1',
          '0.0.0.0/0',
          '::/0',
          '10.0.0.0/00',
          '10.0.0.0/',
          '::1%lo/129',
        ],
      ],
      [
        'CORS_ORIGINS',
        `${ORIGIN} entry 1 is not valid`,
        [
          'one.example',
          'https://one.example/',
          'https://a:443',
          'null',
          'https://One.example',
          'https://*.a',
          'file:///a',
          'https://me@a',
          'capacitor://',
          'capacitor:localhost',
          'Capacitor://a',
          'app://a/',
          'app://me@a',
          'app://*.a',
          'app://a?',
          'app://a#b',
          'app://a:080',
          'app://é',
        ],
      ],
      [
        'EXPERIMENTAL',
        'must hold experimental operations, which are changePet and removePet: entry 1 is not valid',
        ['changestatus', 'getPet', '1', 'all'],
      ],
      [
        'RATE_LIMIT',
        'must be requests and a window from 1s to 1d, such as 100/10s',
        [
          '100',
          '0/10s',
          '100/0s',
          '100/500ms',
          '100/2d',
          '100/10',
          '-1/10s',
          '1.5/1s',
          '100/10s/1',
          '01/1s',
        ],
      ],
      ['CORS_ORIGINS', `${ORIGIN} entries 2, 3 are not valid`, ['https://one.example,*,two']],
      ['DRAIN_DELAY', 'must be a duration from 0ms to 24d, such as 5s', ['-1s', '5', '25d']],
      ['SHUTDOWN_DEADLINE', DURATION, ['0']],
      ['LOG_LEVEL', LEVEL, ['verbose', 'INFO']],
      ['LOG_FORMAT', 'must be one of auto, pretty, json', ['text']],
      ['API_KEYS', `${TOKEN} entry 1 is not valid`, ['a b', '"quoted"', 'schlüssel', '=']],
      ['API_KEYS', `${TOKEN} entries 2, 4 are not valid`, ['one,t wo,three\nf!ve']],
    ];
    for (const [name, fault, texts] of WRONG)
      it(`${name} ${fault}`, () => {
        for (const text of texts)
          expect(faultsOf({ [name]: text }), JSON.stringify(text)).to.deep.equal([
            `${name} ${fault}`,
          ]);
      });

    it('ADMIN_PORT that is PORT', () => {
      expect(faultsOf({ PORT: '9090', ADMIN_PORT: '9090' })).to.deep.equal([
        'ADMIN_PORT must differ from PORT',
      ]);
      expect(faultsOf({ PORT: '0', ADMIN_PORT: '0' })).to.deep.equal([]);
      expect(
        faultsOf({ PORT: '9090', ADMIN_PORT: '9090' }, ['STORE_URL']),
        'not used',
      ).to.deep.equal([]);
    });

    it('all at once, in the order of the table', () => {
      const environment: Record<string, string> = {
        API_KEYS_FILE: '/no/such/file',
        STORE_URL_FILE: '/no/such/file',
      };
      for (const [name, , [text = '']] of WRONG) environment[name] = text;
      const named = faultsOf(environment).map((fault) => fault.split(' ', 1)[0]);
      const all = SETTINGS.map(({ name }) => name).filter((name) => !CHECKED_LATER.includes(name));

      expect(named).to.deep.equal(all);
    });

    it('never quoting a value, which may be a secret', () => {
      const secret = 'hunter2 hunter2';
      const environment = Object.fromEntries(
        SETTINGS.map(({ name }) => [name, `//user:${secret}@host`]),
      );
      const faults = faultsOf(environment);

      expect(faults).to.have.length(SETTINGS.length - CHECKED_LATER.length);
      expect(faults.join('\n')).to.not.include('hunter2');
    });
  });

  describe('with API_KEYS_FILE', () => {
    afterEach(cleanUp);

    it('say what is wrong with the file', () => {
      const file = join(temporaryFolder(), 'keys');
      const fault = (): readonly string[] => faultsOf({ API_KEYS_FILE: file });

      expect(fault()).to.deep.equal(['API_KEYS_FILE names a file that cannot be read (ENOENT)']);

      writeFileSync(file, ' \n,\n');
      expect(fault()).to.deep.equal(['API_KEYS_FILE names a file without a key']);

      writeFileSync(file, 'one\nsec ret\n');
      expect(fault()).to.deep.equal([
        'API_KEYS_FILE must hold bearer tokens (RFC 6750): entry 2 is not valid',
      ]);
    });

    it('read no device, no pipe and no large file', () => {
      const folder = temporaryFolder();
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]); // reading it would wait for ever
      const large = join(folder, 'large');
      writeFileSync(large, 'a'.repeat(2 ** 20 + 1));
      for (const path of ['/dev/zero', pipe, large, folder])
        expect(faultsOf({ API_KEYS_FILE: path })).to.deep.equal([
          'API_KEYS_FILE must name a regular file of at most a megabyte',
        ]);
      writeFileSync(large, 'a'.repeat(2 ** 20));

      expect(faultsOf({ API_KEYS_FILE: large })).to.deep.equal([]);
    });

    it('hold its keys beside those of API_KEYS', () => {
      const file = join(temporaryFolder(), 'keys');
      writeFileSync(file, 'five\n\n six , seven\r\n');
      const { staticKeys } = readSettings({ API_KEYS: 'one,two', API_KEYS_FILE: file });

      expect(staticKeys).to.deep.equal(['one', 'two', 'five', 'six', 'seven']);
    });
  });

  it('take the URL of the store from STORE_URL_FILE, never from both', () => {
    const file = join(temporaryFolder(), 'url');
    const storeOnly = ['STORE_URL', 'ADAPTERS'];
    for (const [text, fault] of [
      [undefined, 'names a file that cannot be read (ENOENT)'],
      ['', 'must name a file with one URL and nothing else'],
      ['memory: memory:', 'must name a file with one URL and nothing else'],
    ] as const) {
      if (text !== undefined) writeFileSync(file, text);
      const expected = [`STORE_URL_FILE ${fault}`];
      expect(faultsOf({ STORE_URL_FILE: file }), text).to.deep.equal(expected);
      expect(faultsOf({ STORE_URL_FILE: file }, storeOnly), text).to.deep.equal(expected);
      expect(faultsOf({ STORE_URL_FILE: file }, ['BASE_PATH']), text).to.deep.equal([]);
    }
    writeFileSync(file, ' mongodb://db1/animals\r\n');

    expect(readSettings({ STORE_URL_FILE: file }).storeUrl).to.equal('mongodb://db1/animals');
    expect(faultsOf({ STORE_URL: 'memory:', STORE_URL_FILE: file }, storeOnly)).to.deep.equal([
      'STORE_URL_FILE must not be set beside STORE_URL',
    ]);
  });

  it('that differ from their defaults are shown in one line, without secrets', () => {
    const differing = 'settings that differ from their defaults';
    for (const [environment, shown] of [
      [{}, 'none'],
      [{ PORT: '8080', HOST: '', API_KEY: 'hunter2', PATH: '/bin' }, 'none'],
      [{ PORT: '0', LOG_LEVEL: 'warn' }, 'PORT=0, LOG_LEVEL=warn'],
      [{ API_KEYS: 'hunter2,\nhunter3' }, 'API_KEYS=2'],
      [{ API_KEYS_FILE: '/run/keys' }, 'API_KEYS_FILE=/run/keys'],
      [
        { CORS_ORIGINS: 'https://a.example\nhttps://b.example' },
        'CORS_ORIGINS=https://a.example https://b.example',
      ],
      [{ STORE_URL: 'sqlite:a b.db' }, 'STORE_URL=sqlite:a b.db'],
      [
        { STORE_URL: 'mongodb://till:hunter2@db1,db2/animals' },
        'STORE_URL=mongodb://***@db1,db2/animals',
      ],
      [{ STORE_URL: 'shelf://hunter2@host/?key=hunter3' }, 'STORE_URL=shelf://***@host/?***'],
      [{ STORE_URL: 'shelf://till:hun/t?er@2@host' }, 'STORE_URL=shelf://***@host'],
    ] as const)
      expect(changedSettings(environment)).to.equal(`${differing}: ${shown}`);
  });

  it('have a sentence of help each', () => {
    const short = SETTINGS.filter(({ help }) => !/^\S[^\n]{20,}\.$/.test(help));
    expect(short.map(({ name, help }) => `${name}: ${help}`)).to.deep.equal([]);
  });
});

describe('A host', () => {
  it('on the loopback is reached by this machine only', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '::1'])
      expect(isLoopback(host), host).to.equal(true);
    for (const host of [
      '0.0.0.0',
      '::',
      '192.168.0.1',
      '127.0.0.1.example.org',
      'localhost.example.org',
    ])
      expect(isLoopback(host), host).to.equal(false);
  });
});
