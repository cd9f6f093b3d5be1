import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, program, startedService, temporaryFolder, type Outcome } from './running-service.js';
import { StoreClient, statusOf } from './store-client.js';

/** How long a status is asked for until it is another one, in milliseconds since `since`. */
async function untilStatus(status: number, url: string, key: string, since: number): Promise<number> {
  const client = new StoreClient(key);
  while ((await client.get(url)).status !== status) {
    if (performance.now() - since > 5_000) throw new Error(`still not ${status}`);
  }
  client.close();
  return performance.now() - since;
}

const runIn =
  (folder: string) =>
  (...args: readonly string[]): Promise<Outcome> =>
    program(folder, ['keys', ...args]).ended;

describe('The commands for keys, while the service runs', () => {
  afterEach(cleanUp);

  it('issue a key alone on stdout, good at once, and end it within a second', async () => {
    const folder = await temporaryFolder();
    const { url } = await startedService(folder);
    const keys = runIn(folder);
    const { code, out, err } = await keys('issue', '--name', 'shop window', '--scope', 'pets:read');
    expect(code).to.equal(0);
    expect(out).to.match(/^ast_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}\n$/);
    const key = out.trimEnd();
    const [, , id = ''] = key.split('_');
    expect(err).to.include(id).and.not.to.include(key);
    expect(await statusOf(`${url}/pets`, key)).to.equal(200);
    expect((await new StoreClient(key, false).send('POST', `${url}/pets`, '{}')).status).to.equal(403);
    const revoked = await keys('revoke', id);
    expect(revoked).to.include({ code: 0, out: '' });
    expect(await untilStatus(401, `${url}/pets`, key, performance.now())).to.be.below(3_000); // 1 s to the service, and the rest to a busy machine
  });

  it('rotate a key at once with no overlap, and leave the old one good with one', async () => {
    const folder = await temporaryFolder();
    const { url } = await startedService(folder);
    const keys = runIn(folder);
    const first = JSON.parse((await keys('issue', '--name', 'till', '--json')).out) as {
      key: string;
      id: string;
    };
    expect(await statusOf(`${url}/pets`, first.key)).to.equal(200);
    const rotated = await keys('rotate', first.id, '--overlap', '0', '--json');
    const since = performance.now();
    const second = JSON.parse(rotated.out) as { key: string; id: string; replaced: { id: string } };
    expect(second.replaced.id).to.equal(first.id);
    expect(await statusOf(`${url}/pets`, second.key)).to.equal(200);
    expect(await untilStatus(401, `${url}/pets`, first.key, since)).to.be.below(3_000); // 1 s to the service, and the rest to a busy machine
    const { out: third } = await keys('rotate', second.id, '--overlap', '1h');
    expect(await statusOf(`${url}/pets`, second.key)).to.equal(200);
    expect(await statusOf(`${url}/pets`, third.trimEnd())).to.equal(200);
  });

  it('list what there is, for people and for machines, and never a key', async () => {
    const folder = await temporaryFolder();
    await startedService(folder);
    const keys = runIn(folder);
    const key = (await keys('issue', '--name', 'till', '--expires', '90d')).out.trimEnd();
    const [people, machines] = [await keys('list'), await keys('list', '--json')];
    expect(people.out).to.match(/^ID .*\n\w{8} +till +pets:read,pets:write +active .*\n$/);
    const [record, ...more] = JSON.parse(machines.out) as ReadonlyArray<Record<string, unknown>>;
    expect(more).to.deep.equal([]);
    expect(record).to.include({ id: key.split('_')[2], name: 'till', state: 'active' });
    expect(record).not.to.have.any.keys('key', 'hash', 'secret');
    const secret = key.split('_')[3] ?? '';
    const hash = createHash('sha256').update(key).digest('hex');
    expect(people.out + people.err + machines.out + machines.err)
      .not.to.include(secret)
      .and.not.to.include(hash);
  });

  const wrong: ReadonlyArray<readonly string[]> = [
    ['issue'],
    ['issue', '--name'],
    ['issue', '--name', 'a', '--scope', 'pets:destroy'],
    ['issue', '--name', 'a', '--expires', 'tomorrow'],
    ['issue', '--name', 'a', 'more'],
    ['revoke'],
    ['revoke', 'a', 'b'],
    ['rotate', 'a', '--overlap', '-1h'],
    ['list', '--nonsense'],
    ['forget'],
  ];
  it('end with 2 and nothing made when they are used wrongly, pointing to their help', async () => {
    const folder = await temporaryFolder();
    const outcomes = await Promise.all(wrong.map((args) => runIn(folder)(...args)));
    for (const [index, { code, out, err }] of outcomes.entries()) {
      expect({ args: wrong[index], code, out }).to.deep.equal({ args: wrong[index], code: 2, out: '' });
      expect(err)
        .to.include('--help')
        .and.not.to.match(/^\s+at /m);
    }
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('show an example by --help, and make nothing', async () => {
    const folder = await temporaryFolder();
    for (const command of ['issue', 'rotate']) {
      const { code, out } = await runIn(folder)(command, '--help');
      expect(code).to.equal(0);
      expect(out).to.match(new RegExp(`Example:\\n +animal-store keys ${command} `));
    }
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('say why they cannot reach the keys of a memory store, and end with 1', async () => {
    const outcome = await program(await temporaryFolder(), ['keys', 'list'], { STORE_URL: 'memory:' }).ended;
    expect(outcome).to.include({ code: 1, out: '' });
    expect(outcome.err).to.match(/^[^\n]*memory[^\n]*API_KEYS[^\n]*\n$/);
  });

  it('end with 1 and one line for an id that is no key’s', async () => {
    const keys = runIn(await temporaryFolder());
    await keys('issue', '--name', 'till');
    for (const command of ['revoke', 'rotate']) {
      const outcome = await keys(command, 'nosuchid');
      expect(outcome).to.include({ code: 1, out: '' });
      expect(outcome.err).to.equal('No API key has this id.\n');
    }
  });

  it('end with 1 and one line where there is no store, and make none, unless they issue a key', async () => {
    const folder = await temporaryFolder();
    for (const args of [['list'], ['list', '--json'], ['revoke', 'nosuchid'], ['rotate', 'nosuchid']]) {
      const outcome = await runIn(folder)(...args);
      expect(outcome).to.include({ code: 1, out: '' });
      expect(outcome.err).to.match(/^[^\n]*animal-store\.db is not there: name the file of a store\.\n$/);
    }
    expect(await readdir(folder)).to.deep.equal([]);
    expect((await runIn(folder)('issue', '--name', 'till')).code).to.equal(0);
    expect((await runIn(folder)('list')).code).to.equal(0);
  });
});

describe('The text of a key', () => {
  afterEach(cleanUp);

  it('is in no log, no answer and no file, but as a hash', async () => {
    const folder = await temporaryFolder();
    const staticKey = 'static-0123456789-abcdefghijklmnop';
    const first = program(folder, ['serve'], { PORT: '0', LOG_LEVEL: 'trace' });
    await first.ready();
    const firstKey = /ast_live_\w+/.exec(first.out)?.[0] ?? '';
    const { err: firstLog } = await first.stop();

    const { child, url } = await startedService(folder, { API_KEYS: staticKey, LOG_LEVEL: 'trace' });
    const issued = await program(folder, ['keys', 'issue', '--name', 'till']).ended;
    const key = issued.out.trimEnd();
    const rotated = await program(folder, ['keys', 'rotate', key.split('_')[2] ?? '']).ended;
    const keys = [firstKey, staticKey, key, rotated.out.trimEnd()];
    const almost = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
    const answers: string[] = [];
    for (const used of [...keys, almost, `${staticKey}x`]) {
      for (const [method, target, body] of [
        ['GET', '/pets', undefined],
        ['POST', '/pets', '{"name":"Rex","categoryId":1}'],
        ['POST', '/pets', 'not JSON'],
        ['GET', '/nowhere', undefined],
        ['GET', '/pets?limit=0', undefined],
      ] as const) {
        answers.push(JSON.stringify(await new StoreClient(used, false).send(method, url + target, body)));
      }
    }
    const whileRunning = await filesIn(folder);
    child.signal('SIGKILL');
    const { err: log, out } = await child.ended;
    const wrongUse = await program(folder, ['keys', 'revoke', key]).ended;
    const wrongCommand = await program(folder, [key]).ended;

    const told = [
      firstLog,
      log,
      out,
      issued.err,
      rotated.err,
      wrongUse.err,
      wrongUse.out,
      wrongCommand.err,
      ...answers,
    ];
    const stored = [...whileRunning, ...(await filesIn(folder))];
    const everything = [...told.map((text) => Buffer.from(text)), ...stored];
    for (const secret of [...keys.map((text) => text.split('_')[3] ?? text), almost.split('_')[3] ?? '']) {
      expect(secret).to.have.length.above(20);
      expect(everything.filter((bytes) => bytes.includes(secret))).to.deep.equal([]);
    }
    const hash = createHash('sha256').update(key).digest('hex');
    expect(
      stored.some((bytes) => bytes.includes(hash)),
      'the search finds what is there',
    ).to.equal(true);
    expect(log).to.include(key.split('_')[2]);
  });
});

async function filesIn(folder: string): Promise<readonly Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
}
