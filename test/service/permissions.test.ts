import { expect } from 'chai';
import { mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KEY } from '../bootstrap/test-io.js';
import { Child, MAIN, PACKAGE, cleanUp, temporaryFolder } from './running-service.js';
import { StoreClient } from './store-client.js';

/** What `npm start` runs, which prints what its program may do. */
function started(
  settings: Readonly<Record<string, string>>,
  asked: Readonly<Record<string, readonly string[]>>,
  ...options: readonly string[]
): Child {
  const code = `
    const asked = ${JSON.stringify(asked)};
    if (process.permission !== undefined)
      for (const name in asked) console.error('may ' + name + ': ' + process.permission.has(...asked[name]));`;
  const imported = `--import=data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const environment = { PORT: '0', LOG_FORMAT: 'json', NODE_OPTIONS: imported, ...settings };
  return new Child(
    process.execPath,
    [join(PACKAGE, 'tools/start.mjs'), ...options],
    PACKAGE,
    environment,
  );
}

/** Adds an animal through it, stops it, and resolves to what it printed. */
async function used(service: Child): Promise<string> {
  await new StoreClient(KEY, false).add(await service.ready(), 'Bella');
  const { code, err } = await service.stop();
  expect(code, err).to.equal(0);
  return err;
}

describe('npm start', () => {
  afterEach(cleanUp);

  it('lets the service read the repository and its store, and write its store only', async () => {
    const folder = await realpath(temporaryFolder());
    await mkdir(join(folder, 'disk'));
    await symlink('disk', join(folder, 'link'));
    await writeFile(join(folder, 'keys'), KEY);
    const file = join(folder, 'link/new/store/animals.db');
    const settings = { STORE_URL: `sqlite:${file}`, API_KEYS_FILE: join(folder, 'keys') };
    const asked = {
      'write the store': ['fs.write', `${file}-wal`],
      'write the repository': ['fs.write', join(PACKAGE, 'build/file')],
      'write beside the folder': ['fs.write', join(folder, 'file')],
      'read the repository': ['fs.read', join(PACKAGE, 'package.json')],
      'read the machine': ['fs.read', '/etc/hostname'],
      'start processes': ['child'],
      'start threads': ['worker'],
    };
    await writeFile(join(folder, 'url'), `${settings.STORE_URL}\n`);
    const { STORE_URL: _, ...others } = settings;
    // The first start makes the store.
    for (const given of [settings, { ...others, STORE_URL_FILE: join(folder, 'url') }]) {
      const err = await used(started(given, asked));
      expect(err.match(/may .*/g)).to.deep.equal([
        'may write the store: true',
        'may write the repository: false',
        'may write beside the folder: false',
        'may read the repository: true',
        'may read the machine: false',
        'may start processes: false',
        'may start threads: false',
      ]);
      expect(err).to.not.include('ExperimentalWarning');
    }
  });

  it('lets it write the folder of the store that --store names, not of STORE_URL', async () => {
    const folder = await realpath(temporaryFolder());
    const settings = { STORE_URL: `sqlite:${join(folder, 'other/animals.db')}`, API_KEYS: KEY };
    const asked = {
      'write the store': ['fs.write', join(folder, 'store/animals.db')],
      'write the other': ['fs.write', join(folder, 'other/animals.db')],
    };
    const store = `sqlite:${join(folder, 'store/animals.db')}`;
    for (const options of [
      ['--store', store],
      [`--store=${store}`, '--port', '0'],
    ]) {
      const err = await used(started(settings, asked, ...options));
      expect(err.match(/may .*/g)).to.deep.equal([
        'may write the store: true',
        'may write the other: false',
      ]);
    }
  });

  it('lets it read the folder of the store although other names begin with its name', async () => {
    const folder = await realpath(temporaryFolder());
    await mkdir(join(folder, 'disk'));
    await writeFile(join(folder, 'disk-keys'), KEY);
    for (const file of ['disk/animals.db', 'animals.db']) {
      const store = join(folder, file);
      const asked = {
        'read the folder': ['fs.read', dirname(store)],
        'read above': ['fs.read', dirname(folder)],
      };
      const settings = { STORE_URL: `sqlite:${store}`, API_KEYS_FILE: join(folder, 'disk-keys') };
      const err = await used(started(settings, asked));
      expect(err.match(/may .*/g)).to.deep.equal([
        'may read the folder: true',
        'may read above: false',
      ]);
    }
  });

  it('lets it read the certificates that the URL of MongoDB names, in any case', async () => {
    const folder = await realpath(temporaryFolder());
    const names = ['tlscafile', 'TLSCertificateKeyFile', 'tlsCRLFile'];
    const files = names.map((name) => join(folder, `a ${name}`));
    for (const file of files) await writeFile(file, '');
    const query = names.map((name, index) => `${name}=${encodeURIComponent(files[index] ?? '')}`);
    const missing = `tlsCAFile=${join(folder, 'missing')}`;
    const start = async (options: readonly string[]) => {
      const url = `mongodb://127.0.0.1:1/db?${options.join('&')}`;
      const asked = Object.fromEntries(files.map((file) => [`read ${file}`, ['fs.read', file]]));
      return started({ STORE_URL: url, API_KEYS: KEY }, asked);
    };
    const service = await start(query);
    await service.ready();

    expect((await service.stop()).err.match(/may .*/g)).to.deep.equal(
      files.map((file) => `may read ${file}: true`),
    );

    const { code, err } = await (await start([missing])).ended;
    expect({ code, err }).to.have.property('code', 2);
    expect(err).to.include(`names a file that cannot be read: ${join(folder, 'missing')} (ENOENT)`);
  });

  it('names the store that the program may not use', async () => {
    const folder = temporaryFolder();
    const bounds = ['--permission', `--allow-fs-read=${PACKAGE}`];
    const settings = { PORT: '0', API_KEYS: KEY, STORE_URL: `sqlite:${folder}/new/animals.db` };
    const { code, err } = await new Child(
      process.execPath,
      [...bounds, MAIN, 'serve'],
      PACKAGE,
      settings,
    ).ended;

    expect({ code, err }).to.have.property('code', 1);
    expect(err).to.match(
      /^\S+\/new\/animals\.db cannot be used \(Access to this API has been restricted/,
    );
  });

  it('makes no folder for a store that the service refuses', async () => {
    const folder = temporaryFolder();
    const STORE_URL = `sqlite:${folder}/new/animals.db?mode=ro`;
    const { code, err } = await started({ STORE_URL, API_KEYS: KEY }, {}).ended;

    expect(code, err).to.equal(2);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('refuses options that npm has taken for its own', async () => {
    for (const [option, value] of Object.entries({ port: '0', host: '::1', store: 'memory:' })) {
      const { code, out, err } = await started({ [`npm_config_${option}`]: value }, {}).ended;

      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.equal(
        `npm took --${option} for its own. Write: npm start -- --${option} ...\n`,
      );
    }
  });

  it('passes its options on', async () => {
    const child = new Child(
      process.execPath,
      [join(PACKAGE, 'tools/start.mjs'), '--help'],
      PACKAGE,
      {},
    );
    expect(await child.ended)
      .to.have.property('out')
      .that.matches(/^Usage: animal-store serve/);
  });

  it('leaves an option without its value to the service', async () => {
    const { code, err } = await started({}, {}, '--store').ended;

    expect(code, err).to.equal(2);
    expect(err).to.include("option '--store <url>' argument missing");
  });

  it('sets no bounds to the modules of ADAPTERS', async () => {
    const folder = temporaryFolder();
    const module = join(folder, 'adapter.mjs');
    await writeFile(module, 'export const adapter = { id: 1, load() {} };');
    const settings = { ADAPTERS: module, STORE_URL: 'memory:', API_KEYS: KEY };

    expect(await used(started(settings, { 'start threads': ['worker'] }))).to.not.include('may ');
  });
});
