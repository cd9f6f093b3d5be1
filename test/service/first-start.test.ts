import { expect } from 'chai';
import { execFile, spawnSync } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child, PACKAGE, cleanUp, program, temporaryFolder } from './running-service.js';
import { StoreClient } from './store-client.js';

const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** The words of a line as a shell would take them; knows single quotes only. */
const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Does what a curl line of the notice does: by curl, or without it by a reading of its options. */
async function pasted(line: string): Promise<string> {
  const [, ...args] = words(line);
  if (hasCurl) return (await promisify(execFile)('curl', ['--silent', '--show-error', ...args])).stdout;
  const [url = ''] = args;
  const headers = new Headers();
  for (const [index, arg] of args.entries()) {
    const [, name = '', value = ''] = (args[index - 1] === '-H' && /^(.*?): (.*)$/.exec(arg)) || [];
    if (name !== '') headers.set(name, value);
  }
  const body = args.includes('-d') ? args.at(-1) : undefined;
  const answer = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
  return answer.text();
}

describe('The first start', () => {
  afterEach(cleanUp);

  it('prints a key and lines that work when pasted, on stdout and without a word of the log', async () => {
    const folder = await temporaryFolder();
    const child = program(folder, ['serve'], { PORT: '0' });
    const url = await child.ready();
    const key = /^ {2}(ast_live_\w+)$/m.exec(child.out)?.[1] ?? '';
    const [create = '', list = '', ...more] = child.out.match(/(?<=^ *)curl .*$/gm) ?? [];
    expect(more).to.deep.equal([]);
    expect(create).to.include(url).and.to.include(key);
    const created = await pasted(create);
    expect(created).to.match(/^\{"id":1,"name":"Bella","categoryId":1,"status":"available"\}$/);
    expect(await pasted(list)).to.equal(`[${created}]`);
    const { code, out, err } = await child.stop();
    expect(code).to.equal(0);
    expect(out).not.to.match(/ready|answered|"level"/);
    expect(err).not.to.include(key);
    for (const line of err.trimEnd().split('\n'))
      expect(JSON.parse(line)).to.include.keys('level', 'time', 'msg');
  });

  it('makes the folder of its store below the working directory, and says the whole path', async () => {
    const folder = await temporaryFolder();
    const child = program(folder, ['serve'], { PORT: '0' });
    await child.ready();
    const file = join(folder, 'data', 'animal-store.db');
    await access(file);
    expect(child.err).to.include(`animals in ${file}`);
  });

  it('is followed by a second that prints nothing on stdout, and has all animals of the first', async () => {
    const folder = await temporaryFolder();
    const first = program(folder, ['serve'], { PORT: '0' });
    const firstUrl = await first.ready();
    const key = /ast_live_\w+/.exec(first.out)?.[0] ?? '';
    const client = new StoreClient(key);
    const names = Array.from({ length: 25 }, (_, index) => `Animal ${index} 🐈`);
    const ids: string[] = [];
    for (const name of names) ids.push(await client.add(firstUrl, name));
    const before = await client.all(firstUrl, 10);
    expect([...before]).to.deep.equal(ids.map((id, index) => [id, names[index]]));
    expect((await first.stop()).code).to.equal(0);

    const second = program(folder, ['serve'], { PORT: '0' });
    const url = await second.ready();
    expect([...(await client.all(url, 7))]).to.deep.equal([...before]);
    expect(JSON.parse((await client.get(`${url}/pets/${ids[24]}`)).body)).to.include({ name: names[24] });
    expect(await client.add(url, 'one more')).to.equal(String(Number(ids[24]) + 1));
    client.close();
    expect(await second.stop()).to.include({ code: 0, out: '' });
  });

  it('works through npm start, and ends in order when npm is told to', async () => {
    const folder = await temporaryFolder();
    const npm = new Child('npm', ['start', '--silent'], PACKAGE, {
      PORT: '0',
      STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
    });
    const url = await npm.ready();
    const key = /ast_live_\w+/.exec(npm.out)?.[0] ?? '';
    const client = new StoreClient(key);
    expect(await client.add(url, 'Bella')).to.equal('1');
    client.close();
    const { code, signal, err } = await npm.stop('SIGTERM');
    expect({ code, signal }, err).to.deep.equal({ code: 0, signal: null });
    expect(err).to.match(/stopping on SIGTERM.*"stopped"/s);
  }).timeout(40_000);
});
