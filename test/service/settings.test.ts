import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { readSettings, type Settings } from '../../src/bootstrap/index.js';
import { readEnvironment } from '../../src/bootstrap/service/settings.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';

/** The message of the error that these settings give. */
function faultsOf(environment: Record<string, string>): string {
  try {
    readSettings(environment);
  } catch (error) {
    expect(error).to.include({ isPermanent: true });
    return (error as Error).message;
  }
  throw new Error('They are valid.');
}

describe('Settings', () => {
  afterEach(removeFolders);

  it('have the documented defaults, and an empty variable counts as not set', () => {
    const defaults: Settings = {
      host: '127.0.0.1',
      port: 8080,
      basePath: '/v1',
      publicUrl: undefined,
      stagingUrl: undefined,
      storeUrl: 'sqlite:data/animal-store.db',
      adapters: [],
      staticKeys: [],
      bodyLimit: 65_536,
      requestDeadline: 5000,
      drainDelay: 0,
      shutdownDeadline: 25_000,
      maxInFlight: 256,
      corsOrigins: [],
      adminPort: undefined,
      experimental: [],
      logLevel: 'info',
    };

    expect(readSettings({})).to.deep.equal(defaults);
    expect(readSettings({ PORT: '', STORE_URL: '', API_KEYS: '' })).to.deep.equal(defaults);
  });

  const values: ReadonlyArray<readonly [string, string, keyof Settings, unknown]> = [
    ['PORT', '0', 'port', 0],
    ['ADMIN_PORT', '65535', 'adminPort', 65_535],
    ['BODY_LIMIT', '16MB', 'bodyLimit', 2 ** 24],
    ['REQUEST_DEADLINE', '500ms', 'requestDeadline', 500],
    ['DRAIN_DELAY', '0', 'drainDelay', 0],
    ['SHUTDOWN_DEADLINE', '2m', 'shutdownDeadline', 120_000],
    ['ADAPTERS', './a.mjs, b', 'adapters', ['./a.mjs', 'b']],
    ['API_KEYS', 'a\r\n\r\nb,', 'staticKeys', ['a', 'b']],
    ['CORS_ORIGINS', '*', 'corsOrigins', ['*']],
    ['EXPERIMENTAL', 'removePet', 'experimental', ['removePet']],
    ['PUBLIC_URL', 'https://a.example/b/v1', 'publicUrl', 'https://a.example/b/v1'],
  ];
  for (const [name, text, member, value] of values)
    it(`read ${name}=${JSON.stringify(text)}`, () => {
      expect(readSettings({ [name]: text })[member]).to.deep.equal(value);
    });

  it('drain for five seconds if other machines can connect', () => {
    for (const host of ['127.8.0.1', 'localhost', '::1'])
      expect(readSettings({ HOST: host }).drainDelay).to.equal(0);
    for (const host of ['0.0.0.0', '127.example.org', '::'])
      expect(readSettings({ HOST: host }).drainDelay).to.equal(5000);
  });

  const invalid = {
    HOST: ' ',
    PORT: '0abc',
    BASE_PATH: '/v2',
    PUBLIC_URL: 'https://user:secret@a.example/v1',
    STAGING_URL: 'ftp://a.example/v1',
    STORE_URL: 'memory: ',
    API_KEYS: 'good,s e c r e t',
    BODY_LIMIT: '17mb',
    REQUEST_DEADLINE: '0',
    DRAIN_DELAY: '25d',
    SHUTDOWN_DEADLINE: '1.5s',
    MAX_IN_FLIGHT: '0',
    CORS_ORIGINS: 'a.example',
    ADMIN_PORT: '-1',
    EXPERIMENTAL: 'changePets',
    LOG_LEVEL: 'loud',
  };

  it('are refused all at once, each with its rule and an example, and no value is quoted', () => {
    const lines = faultsOf(invalid).split('\n  ').slice(1);

    expect(lines.map((line) => line.split(' ')[0])).to.deep.equal(Object.keys(invalid));
    for (const line of lines)
      expect(line).to.match(/^([A-Z_]+) (?:must be|is not valid|entry 2 must be).* as in \1=/);
    expect(lines.join()).not.to.match(/secret|s e c r e t|17mb|0abc|loud/);
  });

  it('are refused with a blank behind the value, which cmd.exe leaves before &&', () => {
    expect(faultsOf({ PORT: '3001 ' })).to.match(/^ {2}PORT .* begins or ends with a blank$/m);
    expect(faultsOf({ STORE_URL: 'memory: ' })).to.match(/begins or ends with a blank$/m);
    expect(faultsOf({ PORT: 'x' })).not.to.include('blank');
  });

  it('are read from the files that NAME_FILE names', () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/keys`, 'one\ntwo\n');
    writeFileSync(`${folder}/port`, ' 81 \n');
    writeFileSync(`${folder}/empty`, '\n');
    const environment = { API_KEYS_FILE: `${folder}/keys`, PORT_FILE: `${folder}/port` };

    expect(readSettings(environment)).to.deep.include({ staticKeys: ['one', 'two'], port: 81 });
    const faults = faultsOf({
      ...environment,
      PORT: '82',
      STORE_URL_FILE: `${folder}/none`,
      HOST_FILE: `${folder}/empty`,
      LOG_LEVEL_FILE: `${folder}/empty`,
    });
    expect(faults).to.match(/PORT must not be set beside PORT_FILE/);
    expect(faults).to.match(/STORE_URL_FILE names a file that cannot be read: ENOENT/);
    expect(faults).to.match(
      /HOST must be a text without blanks around it, as in HOST=127\.0\.0\.1$/m,
    );
    expect(faults).to.match(/LOG_LEVEL must be one of/);
  });

  it('that differ from their defaults are logged without secrets', () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/url`, 'mongodb://me:pass/w@rd@a.example,b/x?replicaSet=r&token=1');

    const { shown } = readEnvironment({
      PORT: '8080',
      PORTT: '1',
      LOG_LEVEL: 'warn',
      API_KEYS: 'one,two',
      STORE_URL_FILE: `${folder}/url`,
    });

    expect(shown).to.deep.equal({
      LOG_LEVEL: 'warn',
      API_KEYS: 2,
      STORE_URL: 'mongodb://***@a.example,b/x?***',
    });
    const mistyped = readEnvironment({ STORE_URL: 'mongodb:/me:pass@host/x' }).shown;
    expect(mistyped).to.deep.equal({ STORE_URL: 'mongodb:/***@host/x' });
  });
});
