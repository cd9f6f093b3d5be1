import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Serving, runLine } from '../bootstrap/test-io.js';
import { cleanUp, shellLine, startedService, temporaryFolder } from './running-service.js';
import { StoreClient, statusOf, untilStatus } from './store-client.js';

describe('API keys', () => {
  let folder: string;
  const keys = async (line: string) =>
    runLine(`keys ${line}`, { STORE_URL: `sqlite:${join(folder, 'data', 'animal-store.db')}` });
  beforeEach(async () => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  it('are issued, replaced and revoked while another process serves, which notices', async () => {
    const { child, url } = await startedService(folder);
    const pets = `${url}/pets`;
    const key = (await keys('issue --name window --scope pets:read')).out.trim();

    expect(await statusOf(pets, key), pets).to.equal(200);
    expect(await new StoreClient(key, false).send('POST', pets, '{}')).to.include({ status: 403 });

    const next = (await keys('issue --name window')).out.trim();
    await keys(`revoke ${key.split('_')[2]} --after 1h`);

    expect([await statusOf(pets, key), await statusOf(pets, next)]).to.deep.equal([200, 200]);

    await keys(`revoke ${key.split('_')[2]}`);
    // One second for the service, and the rest for a busy machine.
    expect(await untilStatus(401, pets, key)).to.be.below(10_000);
    expect(await statusOf(pets, next)).to.equal(200);
    expect(await child.stop()).to.include({ code: 0 });
  });

  /** A reader that closes the pipe, and says so to the program, which waits for it. */
  const closing = '| { exec <&-; : > closed; }';
  for (const [what, line] of Object.entries({
    'a key for a reader that has closed the pipe': `keys issue --name lost ${closing}`,
    'a key as JSON for a reader that has closed the pipe': `keys issue --name lost --json ${closing}`,
    'a key for a full disk': 'keys issue --name lost > /dev/full',
    'a key for the null device': 'keys issue --name lost > /dev/null',
    'a key for a closed output': 'keys issue --name lost >&-',
    'a first key for a reader that has closed the pipe': `serve ${closing}`,
    'a first key for the null device': 'serve > /dev/null',
  }))
    it(`are revoked when nobody can see them, and the command ends with 1: ${what}`, async () => {
      const [, command = '', output = ''] = /^(.*?) ([|>].*)$/.exec(line) ?? [];
      const waiting = output.startsWith('|') ? 'until [ -e closed ]; do sleep 0.05; done; ' : '';
      const program = `"$NODE" "$MAIN" ${command}; echo "ended with $?" >&2`;
      const settings = { PORT: '0', STORE_URL: 'sqlite:data/animal-store.db' };
      const { err } = await shellLine(folder, `{ ${waiting}${program}; } ${output}`, settings)
        .ended;

      expect(err).to.match(/^Key \w{8} was revoked, because nobody has seen it: /m);
      expect(err).to.match(/^ended with 1$/m);

      const listed = JSON.parse((await keys('list --json')).out) as Array<{ state: string }>;
      expect(listed.map(({ state }) => state)).to.deep.equal(['revoked']);
    });

  it('are in no log, response or file, except as a hash', async () => {
    const staticKey = 'static-0123456789-abcdefghijklmnop';
    const settings = {
      LOG_LEVEL: 'trace',
      STORE_URL: `sqlite:${join(folder, 'data', 'animal-store.db')}`,
    };
    const service = new Serving({ ...settings, API_KEYS: staticKey });
    const { io } = service;
    const url = await service.ready();
    const issued = await keys('issue --name till');
    const key = issued.out.trim();
    const revoked = await keys(`revoke ${key.split('_')[2]} --after 1h`);
    const secrets = [staticKey, key, `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`];
    const said = [
      issued.err,
      revoked.err,
      (await keys('list')).out,
      (await keys('list --json')).out,
    ];
    for (const secret of secrets) {
      const client = new StoreClient(secret);
      for (const [method, target, body] of [
        ['GET', '/pets'],
        ['POST', '/pets', '{"name":"Rex","categoryId":1}'],
        ['POST', '/pets', 'not JSON'],
        ['GET', '/nowhere'],
        ['GET', '/pets?limit=0'],
      ] as const)
        said.push(JSON.stringify(await client.send(method, url + target, body)));
      client.close();
      for (const line of [`keys revoke ${secret}`, `keys list ${secret}`, secret])
        said.push((await runLine(line, settings)).err);
    }
    const stored = await filesIn(folder);

    expect(await service.stop(), service.io.err).to.equal(0);

    const everything = [
      ...[...said, io.out, io.err].map((text) => Buffer.from(text)),
      ...stored,
      ...(await filesIn(folder)),
    ];
    for (const secret of secrets.map((text) => text.split('_')[3] ?? text)) {
      expect(secret).to.have.length.above(20);
      expect(everything.filter((bytes) => bytes.includes(secret))).to.deep.equal([]);
    }
    const hash = createHash('sha256').update(key).digest('hex');

    expect(
      stored.some((bytes) => bytes.includes(hash)),
      'the search finds what is there',
    ).to.equal(true);
    expect(io.err).to.include(key.split('_')[2]);
  });
});

async function filesIn(folder: string): Promise<readonly Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
}
