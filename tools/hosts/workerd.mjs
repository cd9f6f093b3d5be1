// Starts the Worker of the checks in workerd, by the example's config.capnp.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { SITUATIONS } from 'animal-store/contract';
import { readDocsFiles } from 'animal-store/node';
import { KEY, startProcess } from './start-host.mjs';

const ENTRY = `import { WebCryptoKeys } from '../web-crypto-keys.mjs';
  import { workerWith } from './worker.mjs';
  export default workerWith((keys) => new WebCryptoKeys(keys));`;

const SCOPES = ['pets:read', 'pets:write', 'pets:delete'];

/** The keys of the contract, by name. */
const KEYS = {
  key: { key: KEY },
  secondKey: { key: 'a+b/c~d.e_f-0123456789==' },
  managedKey: { key: 'managed-key-0123456789' },
  readOnlyKey: { key: 'read-only-key-0123456789', scopes: ['pets:read'] },
  writeOnlyKey: { key: 'write-only-key-0123456789', scopes: ['pets:write'] },
  expiredKey: { key: 'expired-key-0123456789', refused: 'expired' },
  revokedKey: { key: 'revoked-key-0123456789', refused: 'revoked' },
};

/** Bundles the Worker of the checks, and resolves to functions that start it and the example. */
export async function workerdStarters() {
  const run = promisify(execFile);
  const { default: program } = createRequire(import.meta.url)('workerd'); // the package's command only wraps it
  const { scripts } = JSON.parse(await readFile('package.json'));
  const [esbuild, , ...options] = scripts.bundle.split(' ');
  const shared = options.filter((option) => !option.startsWith('--outfile'));
  await writeFile('checks/entry.mjs', ENTRY);
  await run(`node_modules/.bin/${esbuild}`, [
    'checks/entry.mjs',
    ...shared,
    '--outfile=build/checks.js',
  ]);
  const docs = await readDocsFiles();
  const config = (await readFile('config.capnp', 'utf8'))
    .replace('build/worker.js', '../checks.js')
    .replace(
      'name = "API_KEY", fromEnvironment = "API_KEY"',
      'name = "SETUP", text = embed "setup.json"',
    );
  const serve = (configuration, processOptions) => {
    const sockets = ['--socket-addr=http=127.0.0.1:0', '--control-fd=3'];
    return startProcess([program, 'serve', configuration, ...sockets], {
      ...processOptions,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
  };
  const start = async ({ situation, fails, step }) => {
    const { settings, store = fails ? 'throws' : undefined } = SITUATIONS[situation] ?? {};
    const folder = await mkdtemp('build/setup-');
    const keys = Object.entries(KEYS).map(([keyId, { key, scopes = SCOPES, refused }]) => ({
      keyId,
      key,
      scopes,
      refused,
    }));
    await writeFile(`${folder}/setup.json`, JSON.stringify({ settings, store, step, docs, keys }));
    await writeFile(`${folder}/config.capnp`, config);
    return serve(`${folder}/config.capnp`, {
      basePath: settings?.basePath,
      keys: Object.fromEntries(keys.map(({ keyId, key }) => [keyId, key])),
    });
  };
  const startExample = async () => {
    await run('npm', ['run', 'bundle']);
    return serve('config.capnp', { basePath: '/v1/pets', env: { ...process.env, API_KEY: KEY } });
  };
  return { start, startExample };
}
