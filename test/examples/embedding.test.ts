import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = 'examples/embedding/';
const KEY = 'key-of-the-examples-0123456789';
const BEARER = { Authorization: `Bearer ${KEY}` };
const LARGEST = '9223372036854775807';

/** The blocks of code of a document, each with the line above it that is not empty. */
const blocksOf = (document: string): Array<{ readonly above: string; readonly code: string }> =>
  [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^(.*)\n\n```js\n([^]*?)^```$/gm)].map(
    ([, above = '', code = '']) => ({ above, code }),
  );

/** The example that a line names. */
const namedIn = (line: string): string | undefined =>
  /`(examples\/embedding\/[\w.-]+)`/.exec(line)?.[1] ?? undefined;

describe('The examples of embedding', () => {
  let folder: string;
  let program: ChildProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-embedding-'));
  });
  afterEach(async () => {
    const ended = program && program.exitCode === null && once(program, 'exit');
    program?.kill();
    program = undefined;
    await ended;
    rmSync(folder, { recursive: true });
  });

  function start(name: string, ...before: readonly string[]) {
    const args = ['--disable-warning=ExperimentalWarning', ...before, join(ROOT, FOLDER, name)];
    const env = { ...process.env, API_KEY: KEY, PORT: '0', ANIMALS_FILE: join(folder, 'animals.db') };
    // A test runner within a test runner would report to the outer one.
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'pipe' });
    program = child;
    return child;
  }

  /** What a program prints that ends by itself. */
  async function output(name: string, input = ''): Promise<{ out: string; err: string; code: unknown }> {
    const child = start(name);
    child.stdin.end(input);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { out, err, code };
  }

  it('in-memory.mjs: add, get and list, exactly', async () => {
    const bella = `{"id":1,"name":"Bella","categoryId":${LARGEST},"status":"available"}`;
    expect(await output('in-memory.mjs')).to.deep.equal({ out: `${bella}\n[${bella}]\n`, err: '', code: 0 });
  });

  it('in-a-file.mjs: the animals are still there when it runs again', async () => {
    const lines = [
      `{"id":1,"name":"Bella","categoryId":${LARGEST},"status":"available"}`,
      '1 undefined',
      "invalid_pet [ { field: 'name', message: 'must not be blank' } ]",
      'true true',
      '',
    ];
    expect(await output('in-a-file.mjs')).to.deep.equal({ out: lines.join('\n'), err: '', code: 0 });
    expect((await output('in-a-file.mjs')).out).to.match(/^\{"id":3,.*\n3 undefined\n/);
  });

  it('worker-script.mjs: adds each line once, however often it runs, and says which is wrong', async () => {
    const delivery = `Bella ${LARGEST}\nZoë the 2nd -1\n`;
    expect(await output('worker-script.mjs', delivery)).to.deep.equal({ out: '2 added\n', err: '', code: 0 });
    expect((await output('worker-script.mjs', `${delivery}Milo 2\n`)).out).to.equal('1 added\n');
    const { err, code } = await output('worker-script.mjs', `${delivery}Milo 9223372036854775808\n`);
    expect(err).to.match(/^line 3: categoryId /);
    expect(code).to.equal(1);
  });

  it('without-sockets.test.mjs: passes', async () => {
    const { out, code } = await output('without-sockets.test.mjs');
    expect(out).to.match(/^. (?:pass 1|tests 1)$/m);
    expect(code).to.equal(0);
  });

  for (const name of ['koa-app.mjs', 'express-app.mjs']) {
    it(`${name}: serves the interface below its prefix, and animals from its own routes, exactly`, async () => {
      const { stdout } = start(name);
      let url = '';
      for await (const line of createInterface(stdout)) {
        url = line;
        break;
      }
      expect((await fetch(`${url}/shop/v1/pets`)).status).to.equal(401);
      const body = `{"name":"Bella","categoryId":${LARGEST}}`;
      const headers = { ...BEARER, 'Content-Type': 'application/json' };
      const created = await fetch(`${url}/shop/v1/pets`, { method: 'POST', headers, body });
      expect([created.status, created.headers.get('location')]).to.deep.equal([201, '/shop/v1/pets/1']);
      const bella = `{"id":1,"name":"Bella","categoryId":${LARGEST},"status":"available"}`;
      expect(await created.text()).to.equal(bella);
      await fetch(`${url}/shop/v1/pets`, { method: 'POST', headers, body });
      const page = await fetch(`${url}/shop/v1/pets?limit=1`, { headers: BEARER });
      expect(page.headers.get('link')).to.match(/^<\/shop\/v1\/pets\?.*rel="next"$/);
      expect(await page.text()).to.equal(`[${bella}]`);

      const shown = await fetch(`${url}/window/1`);
      expect(shown.headers.get('content-type')).to.match(/^application\/json/);
      expect(await shown.text()).to.equal(bella);
      for (const path of [`/window/${LARGEST}`, '/window/9223372036854775808', '/window/1.0', '/other']) {
        expect((await fetch(url + path)).status, path).to.equal(404);
      }
    });
  }

  it('are the code of docs/embedding.md, all of it, and that of the README', () => {
    const blocks = blocksOf('docs/embedding.md');
    for (const { above, code } of blocks) {
      const file = namedIn(above);
      expect(file, `the example named above a block: ${above}`).to.be.a('string');
      expect(code, file).to.equal(readFileSync(join(ROOT, file ?? ''), 'utf8'));
    }
    const files = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}${name}`);
    expect(blocks.map(({ above }) => namedIn(above))).to.have.members(files);
    const inReadme = blocksOf('README.md').filter(({ above }) => namedIn(above) !== undefined);
    expect(inReadme.map(({ above }) => namedIn(above))).to.include(`${FOLDER}in-a-file.mjs`);
    for (const { above, code } of inReadme) {
      expect(code).to.equal(readFileSync(join(ROOT, namedIn(above) ?? ''), 'utf8'));
    }
  });
});
