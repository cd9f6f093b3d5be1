import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Program, runProgram, type Outcome } from './program.js';

const today = (): string => new Date().toISOString().slice(0, 10);

const STATIC_KEYS = ['first-static-key-1', 'second-static-key-2'] as const;

describe('deprecations, as a program', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-deprecations-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const deprecations = (
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> => runProgram(['deprecations', ...args], { folder, environment });

  /** Runs the service for these requests, and stops it in order. */
  async function served(
    environment: Readonly<Record<string, string>>,
    requests: ReadonlyArray<readonly [key: string, path: string]>,
  ): Promise<Outcome> {
    const program = new Program(['serve'], {
      folder,
      environment: { PORT: '0', LOG_FORMAT: 'json', API_KEYS: STATIC_KEYS.join(), ...environment },
    });
    const url = await program.ready();
    for (const [key, path] of requests) {
      await (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } })).text();
    }
    return program.stop();
  }

  it('tells who called getPet: static keys by their place, managed ones by their name, never a key', async () => {
    const environment = {};
    const issued = await runProgram(['keys', 'issue', '--name', 'shop window'], { folder, environment });
    const managed = issued.out.trimEnd();
    const from = today();
    const service = await served({}, [
      [STATIC_KEYS[1], '/pets/1'],
      [STATIC_KEYS[1], '/pets/none'],
      [managed, '/pets/1'],
      [managed, '/pets'],
      ['a-key-that-is-not-good', '/pets/1'],
    ]);
    expect(service.code, service.err).to.equal(0);
    const { code, out, err } = await deprecations(['--json', '--since', from], {
      API_KEYS: STATIC_KEYS.join(),
    });
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    const reported: Array<Record<string, unknown>> = JSON.parse(out);
    // Midnight may have passed in between.
    expect(reported.map(({ day }) => String(day) >= from && String(day) <= today())).to.not.include(false);
    const sums = Map.groupBy(reported, ({ keyName }) => keyName);
    expect([...sums.keys()]).to.have.members(['static key 2', 'shop window']);
    const callsOf = (name: string): number =>
      (sums.get(name) ?? []).reduce((sum, { calls }) => sum + Number(calls), 0);
    expect([callsOf('static key 2'), callsOf('shop window')]).to.deep.equal([2, 1]);
    expect(sums.get('shop window')?.[0]).to.have.all.keys([
      'day',
      'operationId',
      'keyId',
      'keyName',
      'calls',
      'lastAt',
    ]);
    expect(sums.get('shop window')?.[0]?.['keyId']).to.equal(managed.split('_')[2]);

    const people = await deprecations();
    expect(people.out).to.match(/^DAY +OPERATION +KEY ID +KEY NAME +CALLS +LAST CALL\n/);
    expect(people.out).to.match(/ getPet +static-[0-9a-f]{12} +static key +\d/);
    for (const secret of [...STATIC_KEYS, managed, managed.split('_')[3] ?? '']) {
      expect(out + people.out + service.err).to.not.include(secret);
    }
    const warnings = service.err
      .trimEnd()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ level }) => level === 40);
    expect(warnings.map(({ operationId, sunset }) => [operationId, sunset]).slice(0, 2)).to.deep.equal([
      ['getPet', '2030-12-05'],
      ['getPet', '2030-12-05'],
    ]);
    expect(warnings.map(({ keyId }) => keyId)).to.include(managed.split('_')[2]);
  });

  it('adds up what services have counted one after the other, and says when nobody called', async () => {
    const requests = [[STATIC_KEYS[0], '/pets/1']] as const;
    await served({}, []);
    const none = await deprecations();
    expect(none).to.deep.equal({ code: 0, out: '', err: 'No key has called a deprecated operation.\n' });
    await served({}, requests);
    await served({ GET_PET: 'off' }, requests);
    const reported: Array<{ calls: number }> = JSON.parse((await deprecations(['--json'])).out);
    expect(reported.reduce((sum, { calls }) => sum + calls, 0)).to.equal(2);
    expect(await deprecations(['--since', '9999-12-31'])).to.deep.equal({
      code: 0,
      out: '',
      err: 'No key has called a deprecated operation since 9999-12-31.\n',
    });
  });

  it('tells what a running service has counted, a few seconds later', async () => {
    const program = new Program(['serve'], {
      folder,
      environment: { PORT: '0', LOG_FORMAT: 'json', API_KEYS: STATIC_KEYS.join() },
    });
    try {
      const url = await program.ready();
      await fetch(`${url}/pets/1`, { headers: { Authorization: `Bearer ${STATIC_KEYS[0]}` } });
      let reported = await deprecations();
      while (reported.out === '' && reported.code === 0) reported = await deprecations();
      expect(reported.out).to.match(/ getPet +static-[0-9a-f]{12} +static key +1 /);
    } finally {
      await program.stop('SIGKILL');
    }
  }).timeout(60_000);

  it('makes no store where there is none, and says so', async () => {
    const { code, out, err } = await deprecations([], { STORE_URL: 'sqlite:dat/animal-store.db' });
    expect({ code, out }).to.deep.equal({ code: 1, out: '' });
    expect(err).to.equal(`${join(folder, 'dat/animal-store.db')} is not there: name the file of a store.\n`);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('says why it cannot reach the counts of a memory store', async () => {
    const outcome = await deprecations([], { STORE_URL: 'memory:' });
    expect(outcome).to.include({ code: 1, out: '' });
    expect(outcome.err).to.match(
      /^A memory store is inside the service[^\n]*See the log of the service\.\n$/,
    );
  });

  it('says when a store of others keeps no counts, and closes it', async () => {
    writeFileSync(
      join(folder, 'other.mjs'),
      `import { ContainerModule } from '${import.meta.resolve('inversify')}';
       import { writeFileSync } from 'node:fs';
       import { TOKENS, provideValue } from '${new URL('../../src/bootstrap/index.js', import.meta.url).href}';
       import { MemoryPetRepository } from '${new URL('../../src/adapters/memory/index.js', import.meta.url).href}';
       const close = async () => writeFileSync(${JSON.stringify(join(folder, 'closed'))}, '');
       const open = async (url, { mustExist }) => {
         if (!mustExist) throw new Error('it may make a store');
         return { pets: new MemoryPetRepository(), location: 'elsewhere', close };
       };
       export const adapter = new ContainerModule((options) =>
         provideValue(options, TOKENS.storeFactory, { scheme: 'other', open }));`,
    );
    expect(await deprecations([], { STORE_URL: 'other:', ADAPTERS: './other.mjs' })).to.deep.equal({
      code: 1,
      out: '',
      err: 'This store keeps no counts of deprecated calls. See the log of the service.\n',
    });
    expect(existsSync(join(folder, 'closed'))).to.equal(true);
  });

  it('ends with 2 at wrong settings and at a day that is none', async () => {
    expect(await deprecations([], { STORE_URL: 'nowhere:' })).to.include({ code: 2, out: '' });
    expect(await deprecations(['--since', '2026-02-30'])).to.include({ code: 2, out: '' });
  });
});
