// Starts the Worker of the checks in workerd, by the example's config.capnp: plain, or with nodejs_compat.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { ManagedApiKeys, apiKeyGenerator } from 'animal-store/api-keys';
import { SITUATIONS } from 'animal-store/contract';
import { openMemoryStore } from 'animal-store/memory';
import { readDocsFiles } from 'animal-store/node';
import { KEY, startProcess } from './start-host.mjs';

const ENTRIES = {
  plain: `import { WebCryptoKeys } from '../web-crypto-keys.mjs';
    import { workerWith } from './worker.mjs';
    export default workerWith((keys) => new WebCryptoKeys(keys));`,
  compat: `import { ApiKeyAuthenticator } from 'animal-store/api-keys';
    import { openMemoryStore } from 'animal-store/memory';
    import { workerWith } from './worker.mjs';
    const { apiKeys } = openMemoryStore();
    export default workerWith((keys, records) => {
      for (const record of records) void apiKeys.add(record);
      const staticKeys = keys.filter(({ isStatic }) => isStatic).map(({ key }) => key);
      return new ApiKeyAuthenticator({ staticKeys, apiKeys });
    });`,
};

const SCOPES = ['pets:read', 'pets:write', 'pets:delete'];
const STATIC_KEYS = { key: KEY, secondKey: 'a+b/c~d.e_f-0123456789==' };

const anHourAgo = () => new Date(Date.now() - 3_600_000);

/** Every key of the contract, and the records of the managed ones. */
async function issueKeys() {
  const { apiKeys } = openMemoryStore();
  const managed = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() });
  const before = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator(), clock: { now: anHourAgo } });
  const issue = async (name, { scopes = SCOPES, refused, from = managed, ...options } = {}) => {
    const { key, record } = await from.issue({ name, scopes, ...options });
    return { name, key, keyId: record.id, scopes, refused };
  };
  const keys = [
    ...Object.entries(STATIC_KEYS).map(([name, key]) => ({
      name,
      key,
      keyId: name,
      isStatic: true,
      scopes: SCOPES,
    })),
    await issue('managedKey'),
    await issue('readOnlyKey', { scopes: ['pets:read'] }),
    await issue('writeOnlyKey', { scopes: ['pets:write'] }),
    await issue('expiredKey', { from: before, expiresAt: new Date(Date.now() - 1), refused: 'expired' }),
    await issue('revokedKey', { refused: 'revoked' }),
  ];
  await managed.revoke(keys.at(-1).keyId);
  return { keys, records: await apiKeys.list() };
}

/** Bundles the Worker of the checks, and resolves to functions that start it and the example. */
export async function workerdStarters(flavour) {
  const run = promisify(execFile);
  const { default: program } = createRequire(import.meta.url)('workerd'); // the package's command only wraps it
  await writeFile(`checks/${flavour}.mjs`, ENTRIES[flavour]);
  const outfile = `--outfile=build/${flavour}.js`;
  const { scripts } = JSON.parse(await readFile('package.json'));
  const [esbuild, , ...options] = scripts.bundle.split(' ');
  const shared = options.filter((option) => !option.startsWith('--outfile'));
  await run(`node_modules/.bin/${esbuild}`, [`checks/${flavour}.mjs`, ...shared, outfile]);
  const { keys, records } = await issueKeys();
  const docs = await readDocsFiles();
  const config = (await readFile('config.capnp', 'utf8'))
    .replace('build/worker.js', `${flavour}.js`)
    .replace('name = "API_KEY", fromEnvironment = "API_KEY"', 'name = "SETUP", text = embed "setup.json"')
    .replace(
      /(compatibilityDate = .*)/,
      flavour === 'compat' ? '$1\n  compatibilityFlags = ["nodejs_compat"],' : '$1',
    );
  const serve = (configuration, options) => {
    const sockets = ['--socket-addr=http=127.0.0.1:0', '--control-fd=3'];
    return startProcess([program, 'serve', configuration, ...sockets], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
  };
  const start = async ({ situation, fails, settings, step }) => {
    const { store = fails ? 'throws' : undefined, ...given } = SITUATIONS[situation] ?? {};
    const all = { ...given.settings, ...settings };
    const folder = await mkdtemp('build/setup-');
    const setup = { settings: all, store, step, docs, keys, records };
    await writeFile(`${folder}/setup.json`, JSON.stringify(setup));
    await writeFile(`${folder}/config.capnp`, config.replace(`${flavour}.js`, `../${flavour}.js`));
    return serve(`${folder}/config.capnp`, {
      basePath: all.basePath,
      keys: Object.fromEntries(keys.map(({ name, key }) => [name, key])),
    });
  };
  const startExample = async () => {
    await run('npm', ['run', 'bundle']);
    return serve('config.capnp', { basePath: '/v1/pets', env: { ...process.env, API_KEY: KEY } });
  };
  return { start, startExample };
}
