import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { KEY } from './running-service.js';
import { ROOT } from '../root.js';
import { temporaryFolder } from '../temporary-folder.js';
import { Child, MAIN, cleanUp, program, shell } from './child-process.js';

const SERVICE = { PORT: '0', STORE_URL: 'memory:', API_KEYS: KEY };

/** Logs 5,000 lines in one turn, more than pipes hold, then ends in some way. */
const LOGGING = `
  const { createLogger, logDestination } = await import(process.env.LOGGER);
  const log = createLogger({ logLevel: 'info' }, logDestination());
  for (let line = 0; line < 5000; line += 1) log.info({ line, pad: 'x'.repeat(100) });
  `;

const npm = (script: string, environment = {}): Child =>
  new Child('npm', script.split(' '), ROOT, environment);

describe('The process', () => {
  let folder: string;

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  it('prints the first key to a pipe or a file, and only JSON to its log', async () => {
    const piped = program(folder, 'serve', { PORT: '0' });
    const url = await piped.ready();
    const [, key = ''] = await piped.said(/once: (\S+)\n[^]*curl [^]*Authorize with this key/);
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${url}/pets`, { headers })).status).to.equal(200);
    expect(await piped.stop()).to.equal(0);
    for (const line of piped.err.trimEnd().split('\n')) JSON.parse(line); // throws if it is not JSON

    const toFile = shell(folder, 'exec "$NODE" "$MAIN" serve > out', {
      PORT: '0',
      STORE_URL: 'sqlite:b.db',
    });
    await toFile.ready();
    expect(readFileSync(`${folder}/out`, 'utf8')).to.match(/once: ast_live_/);
    expect(await toFile.stop()).to.equal(0);
  });

  it('stops in order on SIGTERM or one Ctrl-C when npm has started it', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const child = npm('start', SERVICE);
      const url = await child.ready();
      expect((await fetch(url.replace('/v1', '/readyz'))).status).to.equal(200);
      if (signal === 'SIGINT') child.signalGroup(signal);
      else child.process.kill(signal);

      expect(await child.ended, child.err).to.equal(0);
      expect(child.err).to.match(/"stopped"/);
    }
  });

  it('ends with the exit code of a command that npm has started', async () => {
    const listing = npm('run -s cli -- keys list', { STORE_URL: `sqlite:${folder}/none.db` });
    expect(await listing.ended).to.equal(2);
  });

  it('exports every animal to a reader that is slow', async () => {
    // More than a pipe holds, and less than that and the buffer of a stream.
    const lines = Array.from(
      { length: 2000 },
      (_, index) => `animal number ${index},7,available\n`,
    );
    writeFileSync(`${folder}/animals.csv`, `name,categoryId,status\n${lines.join('')}`);
    const store = { STORE_URL: 'sqlite:a.db' };
    expect(await program(folder, 'import animals.csv', store).ended).to.equal(0);

    const exported = shell(
      folder,
      '"$NODE" "$MAIN" export - --format csv | (sleep 1; wc -l)',
      store,
    );
    await exported.ended;
    expect(exported.out.trim()).to.equal('2001');
  });

  it('keeps serving when the reader of its log has closed the pipe', async () => {
    const child = program(folder, 'serve', SERVICE);
    const url = await child.ready();
    child.process.stderr?.destroy();
    for (let turn = 0; turn < 30; turn += 1)
      expect((await fetch(`${url}/pets`)).status).to.equal(401);

    expect(await child.stop()).to.equal(0);
  });

  /** How it ends, and how many lines may be lost: those of one write of 16 KiB, if that is in progress at the end. */
  const endings = [
    ['no line', 'ends by itself', '', 0],
    ['at most one write', 'exits', 'process.exit();', 120],
    ['at most one write', 'throws', 'setImmediate(() => { throw new Error("oops"); });', 120],
  ] as const;
  for (const [what, how, ending, mayBeLost] of endings)
    it(`loses ${what} of the log when it ${how}`, async () => {
      const child = new Child(
        process.execPath,
        ['--input-type=module', '-e', LOGGING + ending],
        folder,
        { LOGGER: new URL('service/logger.js', `file://${MAIN}`).href },
      );
      await child.ended;

      const lines = child.err.matchAll(/^\{"level":30.*"line":(\d+)/gm);
      const numbers = new Set([...lines].map(([, number]) => number));
      expect(numbers.size).to.be.within(5000 - mayBeLost, 5000);
    });

  it('exits although the reader of its log has stopped reading', async () => {
    const child = new Child(
      process.execPath,
      ['--input-type=module', '-e', `${LOGGING} process.exit(7);`],
      folder,
      { LOGGER: new URL('service/logger.js', `file://${MAIN}`).href },
    );
    child.process.stderr?.pause();
    const [code] = await once(child.process, 'exit');
    child.process.stderr?.resume();

    expect(code).to.equal(7);
  });

  it('exits after a failed start although the reader of its log has gone', async () => {
    const child = program(folder, 'serve', { ...SERVICE, STORE_URL: 'nope:' });
    child.process.stderr?.destroy();

    expect(await child.ended).to.equal(2);
  });

  it('exits although a module of ADAPTERS has a timer running', async () => {
    writeFileSync(
      `${folder}/busy.mjs`,
      'setInterval(() => {}, 1000); export const adapter = { load() {} };',
    );
    const child = program(folder, 'serve', { ...SERVICE, ADAPTERS: './busy.mjs' });
    await child.ready();

    expect(await child.stop()).to.equal(0);
  });

  it('names the supported versions of Node.js if its own is too old', async () => {
    const old = 'data:text/javascript,process.getBuiltinModule=undefined';
    const child = new Child(process.execPath, ['--import', old, MAIN, 'serve'], folder, {});

    expect(await child.ended).to.equal(2);
    expect(child.err).to.match(
      /^Node.js \S+ is too old: use \^22\.\S+ \|\| \^24\.\S+ \|\| >=26\.\n$/,
    );
  });

  it('logs why the database is unreachable, and stops at once', async () => {
    const env = { ...SERVICE, STORE_URL: 'mongodb://127.0.0.1:1/?replicaSet=rs0' };
    const child = program(folder, 'serve', env);
    await child.said(/"reason":".*ECONNREFUSED.*not yet ready at /);

    expect(await child.stop()).to.equal(0);
  });
});
