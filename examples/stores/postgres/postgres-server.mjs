import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** The folder of the server's programs on Debian, which are not in the path. */
async function programs() {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = versions.map(Number).toSorted((one, other) => other - one);
  return newest
    .map((version) => `/usr/lib/postgresql/${version}/bin`)
    .find((bin) => existsSync(`${bin}/initdb`));
}

const id = async (flag) => Number((await run('id', [flag, 'postgres'])).stdout);

/** The user of the server, which refuses to run as root. */
async function user() {
  if (process.getuid() !== 0) return {};
  return { uid: await id('-u'), gid: await id('-g') };
}

/** Why the tests cannot start a server, or `undefined`. */
export const missingServer = async () =>
  (await programs())
    ? undefined
    : 'no PostgreSQL server in /usr/lib/postgresql (apt-get install postgresql)';

/** Starts a server in a temporary folder. It listens on a socket in that folder, and on no port. */
export async function startPostgres() {
  const bin = await programs();
  const account = await user();
  const folder = await mkdtemp('/tmp/pg-'); // short: the path of a socket has at most 107 bytes
  if (account.uid) await chown(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const options = { ...account, cwd: folder };
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'pets', '-E', 'UTF8', '--locale=C'],
    options,
  );
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`];
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...settings.flatMap((line) => ['-c', line])],
    {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let log = '';
  const ready = Promise.withResolvers();
  server.stderr.on('data', (text) => {
    log += text;
    if (log.includes('ready to accept connections')) ready.resolve();
  });
  server.on('exit', () => ready.reject(new Error(`PostgreSQL ended:\n${log}`)));
  await ready.promise;

  let databases = 0;
  const command = async (text) => {
    const client = new pg.Client({ host: folder, user: 'pets', database: 'postgres' });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  return {
    /** Creates an empty database. Resolves to its URL and its name. */
    async create() {
      const name = `pets_${(databases += 1)}`;
      await command(`CREATE DATABASE ${name} TEMPLATE template0`);
      return { url: `postgres://pets@${encodeURIComponent(folder)}/${name}`, name };
    },
    rename: (name, newName) => command(`ALTER DATABASE ${name} RENAME TO ${newName}`),
    drop: (name) => command(`DROP DATABASE ${name} WITH (FORCE)`),
    async stop() {
      server.kill('SIGINT'); // "fast shutdown"
      if (server.exitCode === null) await once(server, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}
