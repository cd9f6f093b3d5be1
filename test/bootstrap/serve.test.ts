import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Program, runProgram } from './program.js';

/** The messages of log lines. */
const messages = (err: string): string[] =>
  err
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { msg }: { msg: string } = JSON.parse(line);
      return msg;
    });

describe('serve', () => {
  let folder: string;
  const running: Program[] = [];
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-serve-')));
  });
  afterEach(async () => {
    for (const program of running.splice(0)) await program.stop('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  function serve(environment: Readonly<Record<string, string>>): Program {
    const program = new Program(['serve'], {
      folder,
      environment: { PORT: '0', LOG_FORMAT: 'json', ...environment },
    });
    running.push(program);
    return program;
  }
  it('says where it serves and where its animals are, both in full', async () => {
    const program = serve({ API_KEYS: 'a-key-of-16-characters' });
    const url = await program.ready();
    const { code, out, err } = await program.stop();
    expect({ code, out }).to.deep.equal({ code: 0, out: '' });
    expect(messages(err)).to.deep.equal([
      `ready at ${url}, docs at ${new URL('/docs', url).href}, animals in ${join(folder, 'data', 'animal-store.db')}`,
      'stopping on SIGTERM',
      'stopped',
    ]);
  });

  it('prints a first key once, on stdout and nowhere else, and takes it', async () => {
    const first = serve({});
    const url = await first.ready();
    const [key] = await first.printed(/ast_live_\w+/);
    const answer = await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect([answer.status, await answer.text()]).to.deep.equal([200, '[]']);
    const { err } = await first.stop('SIGINT');
    expect(err).to.not.include(key);
    expect(messages(err)).to.include('stopping on SIGINT');

    const second = serve({});
    await second.ready();
    expect((await second.stop()).out).to.equal('');
  });

  it('refuses to start without a key where others reach it', async () => {
    const { code, out, err } = await runProgram(['serve'], {
      folder,
      environment: { HOST: '0.0.0.0', PORT: '0', LOG_FORMAT: 'json' },
    });
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.equal(
      'There is no API key: issue one with `npm run -s cli -- keys issue --name NAME` ' +
        '(`animal-store keys issue --name NAME` where the package is installed), or set API_KEYS.\n',
    );
  });

  it('starts while its store is away, says so, and makes no key', async () => {
    writeFileSync(
      join(folder, 'away.mjs'),
      `import { ContainerModule } from '${import.meta.resolve('inversify')}';
       import { UnavailableError } from '${new URL('../../src/index.js', import.meta.url).href}';
       import { TOKENS, provideValue } from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
       const away = () => Promise.reject(new UnavailableError('reaching the store'));
       const apiKeys = { add: away, findById: away, list: away, update: away, close: async () => {} };
       const pets = { capabilities: {}, add: away, findById: away, list: away, check: away, close: async () => {} };
       const open = async () => ({ pets, apiKeys, location: 'away', close: async () => {} });
       export const adapter = new ContainerModule((options) =>
         provideValue(options, TOKENS.storeFactory, { scheme: 'away', open }));`,
    );
    const program = serve({ ADAPTERS: './away.mjs', STORE_URL: 'away:' });
    const url = await program.ready();
    const readiness = await fetch(new URL('/readyz', url));
    const { code } = (await readiness.json()) as { code: string };
    expect([readiness.status, code]).to.deep.equal([503, 'service_unavailable']);
    expect((await fetch(new URL('/livez', url))).status).to.equal(200);
    const ended = await program.stop();
    expect({ code: ended.code, out: ended.out }).to.deep.equal({ code: 0, out: '' });
    expect(messages(ended.err)).to.include('the store is away: whether it has API keys is not known');
  });

  it('warns of static keys that may be guessed, without telling them', async () => {
    const program = serve({ API_KEYS: 'fifteen-letters,sixteen-letters-,short', STORE_URL: 'memory:' });
    await program.ready();
    const { err } = await program.stop();
    expect(messages(err)).to.include('2 static API keys have fewer than 16 characters and may be guessed');
    expect(err).to.not.include('letters').and.not.include('short,');
  });

  it('warns of one such key as of one', async () => {
    const program = serve({ API_KEYS: 'short', STORE_URL: 'memory:' });
    await program.ready();
    const { err } = await program.stop();
    expect(messages(err)).to.include('1 static API key has fewer than 16 characters and may be guessed');
  });

  it('logs every answer, and of no request the key, the body or the query', async () => {
    const program = serve({ API_KEYS: 'the-good-key-of-this-test', STORE_URL: 'memory:' });
    const url = await program.ready();
    const good = { Authorization: 'Bearer the-good-key-of-this-test' };
    const json = { 'Content-Type': 'application/json' };
    const body = '{"name":"in-the-body","categoryId":1}';
    await fetch(`${url}/pets`, { method: 'POST', headers: { ...good, ...json }, body });
    await fetch(`${url}/pets?limit=in-the-query`, { headers: good });
    await fetch(`${url}/pets`, { headers: { Authorization: 'Bearer the-bad-key-of-this-test' } });
    const { out, err } = await program.stop();
    expect(out).to.equal('');
    const answers = err
      .trimEnd()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ msg }) => msg === 'answered')
      .map(({ method, path, status, code }) => ({ method, path, status, code }));
    expect(answers).to.deep.equal([
      { method: 'POST', path: '/v1/pets', status: 201, code: undefined },
      { method: 'GET', path: '/v1/pets', status: 400, code: 'invalid_parameter' },
      { method: 'GET', path: '/v1/pets', status: 401, code: 'invalid_api_key' },
    ]);
    for (const secret of ['the-good-key', 'the-bad-key', 'in-the-body', 'in-the-query']) {
      expect(err).to.not.include(secret);
    }
  });

  it('takes a second signal within a second as the same one, and a later one as an order to end at once', async () => {
    const program = serve({ API_KEYS: 'a-key-of-16-characters', STORE_URL: 'memory:', DRAIN_DELAY: '1m' });
    await program.ready();
    program.signal('SIGINT');
    await program.said(/stopping on SIGINT/);
    program.signal('SIGINT');
    // Asked again and again: only one that comes a second after the first is a second one.
    const again = setInterval(() => program.signal('SIGTERM'), 50);
    const began = performance.now();
    const { code, err } = await program.ended;
    clearInterval(again);
    expect(code).to.equal(1);
    expect(performance.now() - began).to.be.within(900, 10_000);
    expect(messages(err).slice(1)).to.deep.equal(['stopping on SIGINT', 'ended at once by a second SIGTERM']);
  });

  it('ends with 1 when requests are still unanswered at the deadline', async () => {
    // A key that is judged for ever: the authenticator of somebody else.
    writeFileSync(
      join(folder, 'slow.mjs'),
      `import { ContainerModule } from '${import.meta.resolve('inversify')}';
       import { TOKENS, provideValue } from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
       const authenticate = () => new Promise(() => console.error('asked'));
       export const adapter = new ContainerModule(({ rebind }) =>
         provideValue({ bind: rebind }, TOKENS.authenticator, { authenticate }));`,
    );
    const program = serve({
      ADAPTERS: './slow.mjs',
      API_KEYS: 'a-key-of-16-characters',
      STORE_URL: 'memory:',
      REQUEST_DEADLINE: '1m',
      SHUTDOWN_DEADLINE: '50ms',
    });
    const url = await program.ready();
    const cutOff = fetch(`${url}/pets`, { headers: { Authorization: 'Bearer any' } }).then(
      () => 'answered',
      () => 'cut off',
    );
    await program.said(/asked/);
    const { code, err } = await program.stop();
    expect(code).to.equal(1);
    expect(err).to.include('stopped; some requests were cut off');
    expect(await cutOff).to.equal('cut off');
  });

  it('ends with 1 when the store is not closed by the deadline, though nothing else keeps it running', async () => {
    writeFileSync(
      join(folder, 'stuck.mjs'),
      `import { ContainerModule } from '${import.meta.resolve('inversify')}';
       import { TOKENS, provideValue } from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
       import { MemoryPetRepository } from '${new URL('../../src/adapters/memory/index.js', import.meta.url).href}';
       const close = () => new Promise(() => {});
       const open = async () => ({ pets: new MemoryPetRepository(), location: 'stuck', close });
       export const adapter = new ContainerModule((options) =>
         provideValue(options, TOKENS.storeFactory, { scheme: 'stuck', open }));`,
    );
    const program = serve({
      ADAPTERS: './stuck.mjs',
      STORE_URL: 'stuck:',
      API_KEYS: 'a-key-of-16-characters',
      SHUTDOWN_DEADLINE: '50ms',
    });
    await program.ready();
    const { code, err } = await program.stop();
    expect(messages(err)).to.include('stopped; some requests were cut off');
    expect(code).to.equal(1);
  });

  for (const [host, why] of [
    ['192.0.2.1', 'EADDRNOTAVAIL'],
    ['nowhere.invalid', '(?:ENOTFOUND|EAI_AGAIN)'],
  ] as const) {
    it(`ends with 1 and one line that names the setting when it cannot listen at ${host}`, async () => {
      const environment = { HOST: host, PORT: '0', API_KEYS: 'a-key-of-16-characters', STORE_URL: 'memory:' };
      const { code, err } = await runProgram(['serve'], { folder, environment });
      expect(code).to.equal(1);
      expect(err).to.match(
        new RegExp(`^[^\\n]*${why}[: ][^\\n]*\\. Set HOST to an address of this machine\\.\\n$`),
      );
    });
  }

  it('ends with 1 and one line when the port is taken, having made no key', async () => {
    const first = serve({ API_KEYS: 'a-key-of-16-characters', STORE_URL: 'memory:' });
    const { port } = new URL(await first.ready());
    const second = await runProgram(['serve'], { folder, environment: { PORT: port } });
    expect(second).to.include({ code: 1, out: '' });
    expect(second.err).to.match(/^[^\n]*EADDRINUSE[^\n]*\n$/);
    expect(existsSync(join(folder, 'data'))).to.equal(true);
    const keys = await runProgram(['keys', 'list'], { folder, environment: {} });
    expect(keys.err).to.equal('The store has no API keys.\n');
  });
});
