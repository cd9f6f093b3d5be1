import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { cpSync } from 'node:fs';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createKoaApp } from '../../src/adapters/http/koa/animal-store-router.js';
import { NodeServer } from '../../src/adapters/http/node/node-server.js';
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.js';
import { unsavedPet } from '../../src/domain/pet.js';
import { KEY, httpInterface } from '../adapters/http/fixtures.js';
import { runLine, type Outcome } from '../bootstrap/test-io.js';
import { cleanUp, shellLine, temporaryFolder } from '../service/running-service.js';
import { ROOT, capturesIn, codeAt, read } from './code-blocks.js';
import { PATH, needing } from './needing.js';
import { startNginx } from './nginx.js';

const run = promisify(execFile);

describe('The pages for operators', () => {
  let folder: string;
  beforeEach(async () => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  needing(
    ['nginx', 'openssl'],
    'have an nginx before the service that alters no answer',
    async () => {
      const listener = createKoaApp(httpInterface()).callback();
      const connections = new Set<unknown>();
      let received: IncomingHttpHeaders = {};
      const service = new NodeServer((request, response) => {
        connections.add(request.socket);
        received = request.headers;
        if (request.url === '/large') response.setHeader('X-Large', 'x'.repeat(12 * 1024));
        void listener(request, response);
      });
      const port = await service.listen(0, '127.0.0.1');
      const nginx = await startNginx(folder, [port, port]);
      try {
        const send = async (path: string, method = 'GET', given = {}, body = '') => {
          const headers = { Host: 'animals.example', ...KEY, ...given };
          const { socketPath } = nginx;
          const trusting = { socketPath, rejectUnauthorized: false }; // its certificate was made just now
          return answerTo(httpsRequest({ ...trusting, method, path, headers }).end(body));
        };
        const json = { 'Content-Type': 'application/json' };
        const bella = '{"name":"Bella","categoryId":9223372036854775807}';
        const created = await send('/v1/pets', 'POST', json, bella);
        expect(created).to.include({
          status: 201,
          body: '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}',
        });
        expect(created.headers.location).to.equal('/v1/pets/1');
        expect(created.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
        const keyed = { ...json, 'Idempotency-Key': 'bella' };
        const first = await send('/v1/pets', 'POST', keyed, bella);
        const second = await send('/v1/pets', 'POST', keyed, bella);
        expect(second).to.include({ status: 201, body: first.body });
        expect(second.headers['idempotency-replayed']).to.equal('true');
        for (const path of [
          '/v1/pets/%31',
          '/v1//pets',
          '/v1/pets?status=no%20status',
          '/v1/a/../pets',
        ]) {
          const headers = KEY;
          // Without the proxy. The path goes out as it stands.
          const direct = httpRequest({ host: '127.0.0.1', port, path, headers }).end();
          const { status, body } = await answerTo(direct);
          expect(await send(path), path).to.include({ status, body });
        }
        const large = await send('/v1/pets', 'POST', json, ' '.repeat(300_000));
        expect([large.status, JSON.parse(large.body)]).to.deep.include(413);
        expect(large.body).to.include('"payload_too_large"');
        expect((await send('/large')).status, 'response headers of 12 KiB').to.equal(404);
        const linked = await send(`/v1/pets?limit=1&x=${'x'.repeat(3900)}`);
        expect(linked).to.include({ status: 200 });
        expect(linked.headers['link']).to.equal('</v1/pets?limit=1&after=1>; rel="next"');
        await send('/livez', 'GET', { 'X-Forwarded-For': '7.7.7.7', Forwarded: 'for=7.7.7.7' });
        expect(received, 'the forged address of a client').to.include({
          'x-forwarded-for': 'unix:',
        });
        expect(received.forwarded).to.equal(undefined);
        for (let count = 0; count < 5; count += 1) {
          const { status } = await send('/livez');
          expect(status, 'the status of /livez').to.equal(200);
        }
        expect(connections.size, 'connections to the service').to.be.lessThan(4);
      } finally {
        await nginx.stop();
        await service.close(100);
      }
    },
  );

  it('import the animals of this repository, and export them', async () => {
    const lines = codeAt(
      'docs/operations/import.md > Importing and exporting animals > 1',
    ).trimEnd();
    cpSync(join(ROOT, 'examples/data'), join(folder, 'examples/data'), { recursive: true });
    const outs: string[] = [];
    for (const line of lines.split('\n')) {
      const child = shellLine(folder, line.replace('animal-store', '"$NODE" "$MAIN"'));
      const { code, out, err } = await child.ended;
      expect({ code, err }, line).to.deep.equal({ code: 0, err: '' });
      outs.push(out.split('\n')[0] ?? '');
    }
    expect(outs).to.deep.equal([
      'Valid animals: 200. Nothing was stored.',
      'Added animals: 200',
      'Exported animals: 200',
    ]);
  });

  /** Runs the command at a place, in the folder of the test in place of those of the page. */
  const here = (place: string): Promise<Outcome> => {
    const code = codeAt(place).replaceAll(/\/(?:var\/lib\/animal-store|backup)\//g, `${folder}/`);
    const [, url = '', args = ''] = /^STORE_URL=(\S+) animal-store (.*)$/m.exec(code) ?? [];
    return runLine(args, { STORE_URL: url });
  };

  it('back up a store in use, and restore it, by one line each', async () => {
    const pet = unsavedPet({ name: 'Bella', categoryId: 1n });
    const file = join(folder, 'animal-store.db');
    const serving = await openSqliteStore(file);
    await serving.pets.add(pet);
    const done = { code: 0, err: '' };
    expect(await here('docs/operations/deploy.md > Backing up an SQLite store > 1')).to.include(
      done,
    );
    await serving.pets.add(pet);
    await serving.close();
    expect(await here('docs/operations/deploy.md > Backing up an SQLite store > 3')).to.include(
      done,
    );
    const restored = await openSqliteStore(file);
    expect((await restored.pets.list({ limit: 9 })).map(({ id }) => id)).to.deep.equal([1n]);
    await restored.close();
  });

  /** The shell lines of the timer and of the CronJob, with the command and the folder of the test. */
  const SCHEDULED = {
    timer: () => {
      const unit = read('docs/operations/animal-store-backup.service');
      return capturesIn(unit, /^ExecStart=(.*)$/gm)
        .join(' && ')
        .replaceAll('%%', '%')
        .replace('/usr/bin/node build/src/bootstrap/main.js', '"$NODE" "$MAIN"')
        .replaceAll('/var/backups/animal-store', folder);
    },
    CronJob: () => {
      const manifest = read('docs/operations/kubernetes-sqlite.yaml');
      const [script = ''] = capturesIn(manifest, /args:\n +- \|\n([^]*?)\n +volumeMounts/g);
      const lines = script.replace('animal-store', '"$NODE" "$MAIN"');
      return `set -e\n${lines.replaceAll('/backup', folder)}`; // as sh -e
    },
  };
  for (const [name, script] of Object.entries(SCHEDULED)) {
    it(`back up by the ${name} beside a backup of the same day, and remove only its old ones`, async () => {
      const today = new Date().toLocaleDateString('sv'); // as date +%F
      const others = [`animals-${today}.db`, 'animals-2020-01-01.db'];
      const old = 'nightly-2020-01-01-031700.db';
      for (const file of [...others, old]) await writeFile(join(folder, file), '');
      for (const file of [others[1] ?? '', old]) await utimes(join(folder, file), 0, 0);
      const store = join(temporaryFolder(), 'store.db');
      await (await openSqliteStore(store)).close();

      const { code, err } = await shellLine(folder, script(), { STORE_URL: `sqlite:${store}` })
        .ended;

      expect({ code, err }).to.deep.equal({ code: 0, err: '' });
      const left = await readdir(folder);
      expect(left).to.include.members(others).and.not.include(old);
      expect(
        left.filter((file) => /^nightly-\d{4}-\d\d-\d\d-\d{6}\.db$/.test(file)),
      ).to.have.length(1);
    });
  }

  needing(
    ['promtool'],
    'have alerts for Prometheus, each of which fires when it should',
    async () => {
      const cases = 'test/docs/alerts.test.yml';
      const options = { env: { PATH, HOME: folder }, cwd: ROOT };
      await run('promtool', ['check', 'rules', 'docs/operations/alerts.yml'], options);
      await run('promtool', ['test', 'rules', cases], options);
      const alerts = capturesIn(read('docs/operations/alerts.yml'), /alert: (\w+)/g);
      expect(alerts, 'the alerts of the page').to.have.length.above(5);
      for (const alert of alerts) expect(read(cases)).to.include(`"${alert}"`);
    },
  );
});

async function answerTo(sent: ClientRequest) {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}
