import { rejects } from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { openApiDocument } from '../../../src/adapters/http/open-api/open-api-document.js';
import { openMemoryStore } from '../../../src/adapters/memory/open-memory-store.js';
import { interruptible, InterruptedError } from '../../../src/bootstrap/commands/command-line.js';
import { VERSION } from '../../../src/bootstrap/service/node-version.js';
import { run } from '../../../src/bootstrap/commands/run.js';
import { SETTINGS } from '../../../src/bootstrap/service/settings.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { cleanUp, makeOldStore, testFile } from '../../adapters/sqlite/temporary-store.js';
import { Shelf, TestIo, factory, runLine } from '../test-io.js';
import { TOKENS } from '../../../src/bootstrap/service/wiring.js';

const KEY_COMMANDS = ['keys issue', 'keys list', 'keys revoke'];
const COMMANDS = ['serve', ...KEY_COMMANDS, 'openapi', 'import', 'export', 'copy'];

const SHELF = { STORE_URL: 'shelf:' };

describe('The command line', () => {
  it('says its version', async () => {
    expect(await runLine('--version')).to.deep.equal({
      code: 0,
      out: `${VERSION}\n`,
      err: '',
    });
  });

  it('lists all commands when called with nothing', async () => {
    const { code, out, err } = await runLine('');
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    for (const command of ['serve', 'keys', 'openapi', 'import', 'export', 'copy'])
      expect(out).to.match(new RegExp(`^  ${command} `, 'm'));
  });

  for (const command of COMMANDS) {
    it(`explains ${command} on lines that fit a terminal, with an example`, async () => {
      const { code, out, err } = await runLine(`${command} --help`);
      expect({ code, err }).to.deep.equal({ code: 0, err: '' });
      expect(out.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);

      const [, words = ''] = /^Example:\n {2}(?:[A-Z_]+=\S+ )*animal-store (.*)$/m.exec(out) ?? [];
      expect(words.startsWith(command), words).to.equal(true);

      for (const option of words.match(/--[a-z]+/g) ?? [])
        expect(out).to.match(new RegExp(`^  ${option} `, 'm'));
      expect(await runLine(`${command} ID --help`)).to.deep.include({ code: 0, out });
    });
  }

  it('explains every setting with serve, and its default', async () => {
    const words = (await runLine('serve --help')).out.replaceAll(/\s+/g, ' ');
    for (const { name, default: value, help } of SETTINGS) {
      expect(words).to.include(value ? `${name} ${help} (default: ${value})` : `${name} ${help}`);
    }
  });

  it('prints the OpenAPI document that the settings describe', async () => {
    const publicUrl = 'https://animals.example.org/v1';
    expect(await runLine('openapi', { PUBLIC_URL: publicUrl, GET_PET: 'off' })).to.deep.equal({
      code: 0,
      out: openApiDocument({ publicUrl, getPet: 'off' }),
      err: '',
    });
  });

  // What a command has done, which another try may do twice.
  for (const [line, done] of Object.entries({
    '--help': '',
    'import --help': '', // written in several parts
    openapi: '',
    'keys list --json': '',
    'import examples/data/animals.csv':
      'Added animals: 200\n  from examples/data/animals.csv\n  to   shelf 1\n',
  })) {
    it(`ends with 1 if ${line} cannot write its result, with 0 if its pipe is closed`, async () => {
      for (const [code, exit, said] of [
        ['ENOSPC', 1, `${done}Standard output cannot be written. write ENOSPC\n`],
        ['EPIPE', 0, ''],
      ] as const) {
        const io = new TestIo(SHELF);
        io.fullDisk = Object.assign(new Error(`write ${code}`), { code });
        expect(await run(line.split(' '), io.io, [new Shelf().module])).to.equal(exit);
        expect(io.err).to.equal(said);
      }
    });
  }

  describe('used wrongly ends with 2 and says', () => {
    const WRONG: ReadonlyArray<readonly [line: string, message: string]> = [
      ['srve', "unknown command 'srve'\n(Did you mean serve?)"],
      ['keys isue', "unknown command 'isue'\n(Did you mean issue?)"],
      ['Serve', "unknown command 'Serve'\n(Did you mean serve?)"],
      ['keys LIST', "unknown command 'LIST'\nTo see what it takes, add --help.\n"],
      ['keys list --Json', "unknown option '--Json'\n(Did you mean --json?)"],
      ['foo', "unknown command 'foo'\nTo see what it takes, add --help.\n"],
      ['keys', 'Manages the API keys of the store.'],
      [
        'keys list --jsn',
        "unknown option '--jsn'\n(Did you mean --json?)\nTo see what it takes, add --help.\n",
      ],
      ['serve --prot 80', "unknown option '--prot'\n(Did you mean --port?)\nTo see"],
      ['serve --no-such', "unknown option '--no-such'\nTo see what it takes, add --help.\n"],
      ['serve now', "too many arguments for 'serve'. Expected 0 arguments but got 1."],
      ['keys issue --name=', '--name must be 1 to 100 characters'],
      ['keys issue --name --expires=90d', '--name has no value.\n'],
      ['keys issue --name --json', '--name has no value.\n'],
      ['serve --host --port=0', '--host has no value.\n'],
      [
        'keys issue --name a --scope=',
        "'--scope <scopes>' must be one or more of pets:read, pets:write",
      ],
      [
        'keys issue --name a --scope pets:feed',
        "'--scope <scopes>' must be one or more of pets:read, pets",
      ],
      ['keys revoke a --after -1h', "'--after <duration>' must be a duration from 0ms to 36500d"],
      [
        'keys issue --name a --expires 0',
        "'--expires <duration>' must be a duration from 1ms to 36500d",
      ],
      ['keys issue --name a --expires 36501d', 'must be a duration from 1ms to 36500d'],
      ['copy --to sqlite:a', "required option '--from <url>' not specified"],
      ['import', "missing required argument 'FILE'"],
      [
        'import animals.txt',
        'animals.txt has no ending of a format: use --format csv, ndjson, jsonl.',
      ],
      ['import no-such.csv', 'no-such.csv cannot be read. ENOENT: no such file or directory'],
      ['import . --format csv', '. is a folder.\n'],
      [
        'import a.csv --map name',
        "'--map <columns>' must be columns by field (id, name, categoryId, status",
      ],
      ['import a.csv --map nmae=A', "'--map <columns>' must be columns by field"],
      ['import a.csv --map name=A,name=B', "'--map <columns>' must be columns by field"],
      [
        'import package.json --format csv --once --keep-ids',
        "option '--once' cannot be used with option '--keep-ids'",
      ],
      [
        'import - --format csv --once',
        '--once reads a file twice, which standard input cannot be.',
      ],
    ];
    for (const [line, message] of WRONG) {
      it(`${message.replace(/\n[^]*/, '')}, to ${line}`, async () => {
        const shelf = new Shelf();
        const { code, out, err } = await runLine(line, SHELF, [shelf.module]);

        expect({ code, out }).to.deep.equal({ code: 2, out: '' });
        expect(err).to.include(message);
        expect(shelf.closed).to.equal(shelf.opened.length);
      });
    }

    it('never an argument, which may be a key', async () => {
      const keys = [
        `ast_live_4fZk02Qa_${'s'.repeat(43)}_abcdef`,
        'hunter2',
        'issu3-secret',
        "it's secret",
      ];
      const lines = [
        '%',
        'keys %',
        'keys revoke ID %',
        'serve %',
        'keys list --json=%',
        'keys list --%',
      ];
      for (const key of keys) {
        for (const line of [...lines, 'keys revoke ID --after %', 'keys revoke ID --after=%']) {
          const args = line.split(' ').map((word) => word.replace('%', key));
          const io = new TestIo();
          expect(await run(args, io.io)).to.equal(2);
          expect(io.err).to.not.include(key);
        }
      }
    });
  });

  /** The settings that a command uses. */
  const USED = {
    openapi:
      'BASE_PATH BODY_LIMIT DEPRECATED_SINCE EXPERIMENTAL GET_PET PUBLIC_URL RATE_LIMIT STAGING_URL',
    'keys list': 'ADAPTERS STORE_URL STORE_URL_FILE',
    'keys issue --name till': 'ADAPTERS STORE_URL STORE_URL_FILE',
    'keys revoke id': 'ADAPTERS STORE_URL STORE_URL_FILE',
    'export a.csv': 'ADAPTERS STORE_URL STORE_URL_FILE',
    'import examples/data/animals.csv': 'ADAPTERS STORE_URL STORE_URL_FILE',
    'copy --from a: --to b:': 'ADAPTERS',
  };
  const WRONG = Object.fromEntries(SETTINGS.map(({ name }) => [name, '/']));
  for (const [line, used] of Object.entries(USED))
    it(`is not stopped by settings that it does not use: ${line}`, async () => {
      const { code, err } = await runLine(line, WRONG);

      expect(code, err).to.equal(2);
      expect(err.match(/^ {2}[A-Z_]+/gm)?.map((name) => name.trim())).to.have.members(
        used.split(' '),
      );
    });

  it('opens a store as the adapters decorate it', async () => {
    const shelves = [new Shelf(), new Shelf({}, 'old'), new Shelf({}, 'new')];
    for (const line of ['keys list', 'copy --from old: --to new:'])
      await runLine(line, SHELF, [
        ...shelves.map(({ module }) => module),
        ({ decorate }) => decorate(TOKENS.openOptions, (open) => ({ ...open, timeout: 7 })),
      ]);
    for (const { opened } of shelves) expect(opened[0]).to.include({ timeout: 7 });
    for (const { opened } of shelves) expect(opened[0]?.onNotice).to.be.a('function');

    expect(shelves[0]?.opened[0]).to.include({ mode: 'read' });
  });

  for (const line of ['keys list', 'export - --format csv', 'import examples/data/animals.csv'])
    it(`refuses the target of a copy that has not finished: ${line}`, async () => {
      const store = openMemoryStore();
      await store.transfer.markUnfinished(true);
      const target = new Shelf({ ...store, location: 'shelf 1' });

      expect(await runLine(line, SHELF, [target.module])).to.deep.equal({
        code: 1,
        out: '',
        err: 'The store shelf 1 is a copy that has not finished: copy again, to a new store.\n',
      });
      expect(await store.transfer.survey()).to.include({ pets: 0 });
      expect(target.closed, 'times that the store was closed').to.equal(1);
    });

  it('names the faults that only adapters and stores find together with all others', async () => {
    const wrong = { PORT: 'x', ADAPTERS: './missing.mjs', LOG_LEVEL: 'loud' };
    for (const [STORE_URL, fault] of Object.entries({
      'nosuch://user:hunter2@host':
        'must start with the scheme of a store: memory:, sqlite:, mongodb:, mongodb+srv:',
      'memory:hunter2': 'must be memory: alone',
      'sqlite:~/hunter2.db': 'must name a file, such as sqlite:data/animal-store.db, without ~, $',
      'mongodb://me:hunter2@host/animals?color=hunter2':
        'has options that the driver refuses: color',
    })) {
      const { code, out, err } = await runLine('serve', { ...wrong, STORE_URL });
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.match(/^Invalid settings:\n {2}PORT must [^\n]*\n {2}LOG_LEVEL must [^\n]*\n/);
      expect(err).to.include(`\n  STORE_URL ${fault}`).and.not.include('hunter2');
      expect(err.match(/^ {2}[A-Z_]+/gm)).to.deep.equal([
        '  PORT',
        '  LOG_LEVEL',
        '  ADAPTERS',
        '  STORE_URL',
      ]);
      const alone = await runLine('keys list', { STORE_URL });
      expect(alone.err.match(/^ {2}[A-Z_]+/gm)).to.deep.equal(['  STORE_URL']);
    }
  });

  const refused = new Error('connect ECONNREFUSED', { cause: new Error('connect ECONNREFUSED') });
  const unreachable = new UnavailableError('listing API keys', { cause: refused });
  for (const [what, error, said] of [
    [
      'each cause once',
      unreachable,
      /^The store is not available \(listing API keys\)\. connect ECONNREFUSED\n$/,
    ],
    ['one line that a user can act on', new Error('locked\nsecond line'), /^locked second line\n$/],
    ['where a fault of the program is', new TypeError('no cupboard'), /^TypeError: .*\n +at /],
    ['what was thrown although it is not an error', 'a tantrum', /^a tantrum\n$/],
  ] as const)
    it(`that fails ends with 1 and says ${what}`, async () => {
      const failing = factory('shelf', () => Promise.reject(error));
      const { code, out, err } = await runLine('keys list', SHELF, [failing]);

      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.match(said);
    });
});

describe('commands on a store of version 0.3', () => {
  afterEach(cleanUp);

  for (const line of [
    'keys list',
    'keys issue --name a',
    'export - --format csv',
    'import examples/data/animals.csv',
    'copy --from sqlite:STORE --to sqlite:NEW',
    'backup NEW',
    'restore STORE',
    'serve --port 0',
  ]) {
    it(`${line.replace(/ [-NSe].*/, '')} refuses it with 2, and leaves it as it is`, async () => {
      const { folder, file } = testFile();
      await makeOldStore(file);
      const before = await readFile(file);
      const words = line.replace('STORE', file).replace('NEW', join(folder, 'new.db'));
      const url = line.startsWith('restore') ? `${file}.restored` : file;
      const { code, out, err } = await runLine(words, { STORE_URL: `sqlite:${url}` });

      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.match(
        /^[^\n]+animals\.db has schema version 3, older than 4, the one of this program: use [^\n]+\n$/,
      );
      expect(before.equals(await readFile(file)), 'the file is unchanged').to.equal(true);
      expect(await readdir(folder)).to.deep.equal(['animals.db']);
    });
  }
});

describe('A command that can be interrupted', () => {
  afterEach(() => mock.restoreAll());

  it('is told by the first signal, and ended by one that comes a second later', async () => {
    let now = 0;
    mock.method(performance, 'now', () => now);
    const io = new TestIo();
    const work = interruptible(
      io.io,
      (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => setImmediate(reject, signal.reason)),
        ),
    );
    io.emit('SIGINT', 'SIGINT');
    io.emit('SIGINT', 'SIGINT'); // the same Ctrl-C
    now = 999;
    io.emit('SIGTERM', 'SIGTERM');

    expect(io.exits).to.deep.equal([]);

    now = 1000;
    io.emit('SIGINT', 'SIGINT');

    expect(io.exits).to.deep.equal([130]);
    await rejects(work, (error) => error instanceof InterruptedError && error.exitCode === 130);
    expect(io.eventNames(), 'signals that are listened for').to.deep.equal([]);
  });
});
