import { rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { InvalidParameterError } from '../../../src/domain/errors.js';
import { runCli } from '../../../src/adapters/cli/cli.js';
import { InterruptedError } from '../../../src/adapters/cli/interrupted-error.js';
import { CopyError, type CopyFault } from '../../../src/application/copy-error.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import type { CheckedCase, PortCheck } from '../../../src/adapters/cli/operations.js';
import { COPIED, FakeOperations, REPORTED, SHOP, WINDOW } from './fake-operations.js';

interface Outcome {
  readonly code: number;
  readonly out: string;
  /** One for each note; each is a line or more, without the last line's end. */
  readonly notes: readonly string[];
}

const printed = (out: string): Outcome => ({ code: 0, out, notes: [] });
const noted = (...notes: string[]): Outcome => ({ code: 0, out: '', notes });

const checked = (name: string): CheckedCase => ({ name, outcome: 'passed', notes: [], milliseconds: 200 });

describe('The command line', () => {
  let operations: FakeOperations;
  beforeEach(() => {
    operations = new FakeOperations();
  });

  async function run(...args: readonly string[]): Promise<Outcome> {
    let out = '';
    const notes: string[] = [];
    const terminal = {
      out: (text: string) => void (out += text),
      note: (text: string) => void notes.push(text),
    };
    const code = await runCli(args, operations, terminal, '1.2.3');
    return { code, out, notes };
  }

  describe('about itself', () => {
    it('says its version', async () => {
      expect(await run('--version')).to.deep.equal(printed('1.2.3\n'));
    });

    it('says all commands on lines that fit a terminal', async () => {
      const { out } = await run('--help');
      expect(out.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
    });

    it('lists with serve the settings that the README lists, with the same defaults', async () => {
      const { out } = await run('serve', '--help');
      const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
      const rows = [...readme.matchAll(/^\| (`[A-Z_`, ]+`) +\|.*\| (.*?) *\|$/gm)];
      const names = rows.flatMap(([, cell = '']) => cell.match(/[A-Z_]+/g) ?? []);
      expect(names).to.have.length.above(10);
      expect(out.match(/^ {2}[A-Z_]+(?= )/gm)?.map((name) => name.trim())).to.deep.equal(names);
      const words = out.replaceAll(/\s+/g, ' ');
      for (const [, , defaults = ''] of rows) {
        for (const [, value = ''] of defaults.matchAll(/`([^`]+)`/g)) expect(words).to.include(value);
      }
    });

    for (const args of [[], ['--help'], ['help']]) {
      it(`says all commands when called with ${args.join(' ') || 'nothing'}`, async () => {
        const { code, out, notes } = await run(...args);
        expect({ code, notes }).to.deep.equal({ code: 0, notes: [] });
        const commands = out.split('\n').flatMap((line) => /^ {2}(\S+(?: [a-z]+)?)/.exec(line)?.[1] ?? []);
        expect(commands).to.deep.equal([
          'serve',
          'openapi',
          'keys issue',
          'keys list',
          'keys revoke',
          'keys rotate',
          'copy',
          'deprecations',
          'check-store',
        ]);
        expect(operations.asked).to.deep.equal([]);
      });
    }

    const COMMANDS = [
      'serve',
      'openapi',
      'keys issue',
      'keys list',
      'keys revoke',
      'keys rotate',
      'copy',
      'deprecations',
      'check-store',
    ];
    for (const command of COMMANDS) {
      it(`explains ${command} with an example that works as it stands`, async () => {
        const { code, out, notes } = await run(...command.split(' '), '--help');
        expect({ code, notes }).to.deep.equal({ code: 0, notes: [] });
        expect(operations.asked).to.deep.equal([]);

        const [, words = ''] = /^Example:\n {2}(?:[A-Z_]+=\S+ )*animal-store (.*)$/m.exec(out) ?? [];
        expect(words.startsWith(command), words).to.equal(true);
        expect((await run(...words.split(' '))).code).to.equal(command === 'serve' ? 1 : 0);
        expect(operations.asked.map(([operation]) => operation)).to.deep.equal([
          command.replace('keys ', ''),
        ]);
      });

      it(`explains what ${command} takes, on lines that fit a terminal`, async () => {
        const { out } = await run(...command.split(' '), '--help');
        const lines = out.split('\n');
        expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
        const usage = /^Usage: animal-store ([^]*?)\n\n/m.exec(out)?.[1] ?? '';
        const taken = usage.slice(command.length).match(/--[a-z-]+|(?<!\S)[A-Z]+(?= \[|$)/g) ?? [];
        for (const word of taken.filter((each) => !/^(?:URL|NAME)$/.test(each))) {
          const explained = lines.some((line) => new RegExp(`^ {2}${word}\\b.* {2,}\\S`).test(line));
          expect(explained, word).to.equal(true);
        }
      });

      it(`explains ${command} whatever else is on the line`, async () => {
        const help = await run(...command.split(' '), '--help');
        expect(await run(...command.split(' '), 'ID', '--nonsense', '--help')).to.deep.equal(help);
      });
    }
  });

  it('says the commands of a group', async () => {
    for (const help of ['--help', '-h']) {
      const { code, out } = await run('keys', help);
      expect(code).to.equal(0);
      expect(out).to.include('keys issue').and.to.include('keys rotate').and.not.to.include('\n  serve');
    }
  });

  it('explains a command, or a group of them, behind the word help too', async () => {
    for (const what of ['keys issue', 'keys', 'serve']) {
      const words = what.split(' ');
      expect(await run('help', ...words), what).to.deep.equal(await run(...words, '--help'));
    }
    expect((await run('help', 'srve')).code).to.equal(2);
    expect(operations.asked).to.deep.equal([]);
  });

  it('hands back the exit code of serve', async () => {
    expect(await run('serve')).to.deep.equal({ code: 1, out: '', notes: [] });
    expect(operations.asked).to.deep.equal([['serve']]);
  });

  it('throws what a command cannot do', async () => {
    operations.failure = new Error('the store is away');
    await rejects(run('keys', 'list'), operations.failure);
  });

  it('openapi prints the document, and nothing else', async () => {
    expect(await run('openapi')).to.deep.equal(printed('{"openapi":"3.1.1"}\n'));
    expect(operations.asked).to.deep.equal([['openapi']]);
  });

  describe('keys issue', () => {
    it('prints the key alone, and notes what it is good for', async () => {
      expect(await run('keys', 'issue', '--name', 'till')).to.deep.equal({
        code: 0,
        out: 'ast_live_the_key\n',
        notes: ['Key 4fZk02Qa (till) has the scopes pets:read, pets:write; it does not expire.'],
      });
      expect(operations.asked).to.deep.equal([
        ['issue', { name: 'till', scopes: undefined, expiresAt: undefined }],
      ]);
    });

    it('takes scopes, with or without a space behind the comma', async () => {
      await run('keys', 'issue', '--name', 'till', '--scope', 'pets:write, pets:read');
      await run('keys', 'issue', '--name=till', '--scope=pets:read');
      expect(operations.issued.map(({ scopes }) => scopes)).to.deep.equal([
        ['pets:write', 'pets:read'],
        ['pets:read'],
      ]);
    });

    it('lets the key expire as long from now, by the clock that keys go by, as it is told', async () => {
      const { notes } = await run('keys', 'issue', '--name', 'till', '--expires', '90d');
      expect(operations.issued[0]?.expiresAt).to.deep.equal(new Date('2027-02-19T12:00:00.000Z'));
      expect(notes).to.deep.equal([
        'Key 4fZk02Qa (till) has the scopes pets:read, pets:write; it expires at 2027-02-19T12:00:00.000Z.',
      ]);
    });

    it('prints the key and all about it for machines with --json', async () => {
      const { code, out } = await run('keys', 'issue', '--name', 'till', '--json');
      expect(code).to.equal(0);
      expect(JSON.parse(out)).to.deep.equal({
        key: 'ast_live_the_key',
        id: '4fZk02Qa',
        name: 'till',
        scopes: ['pets:read', 'pets:write'],
        createdAt: '2026-11-20T10:00:00.000Z',
        state: 'active',
      });
    });
  });

  describe('keys list', () => {
    it('prints one line for each key, below a line of titles', async () => {
      expect(await run('keys', 'list')).to.deep.equal(
        printed(
          [
            'ID        NAME         SCOPES                STATE    CREATED                   EXPIRES                   REPLACED BY',
            '4fZk02Qa  shop         pets:read,pets:write  active   2026-11-20T10:00:00.000Z  -                         -',
            '9aB3cD4e  shop window  pets:read             revoked  2026-11-21T11:30:00.250Z  2027-02-19T11:30:00.250Z  4fZk02Qa',
            '',
          ].join('\n'),
        ),
      );
    });

    it('prints nothing, and notes why, when there are none', async () => {
      operations.keys = [];
      expect(await run('keys', 'list')).to.deep.equal(noted('The store has no API keys.'));
    });

    it('prints all that is known of them for machines with --json', async () => {
      const { out, notes } = await run('keys', 'list', '--json');
      expect(notes).to.deep.equal([]);
      expect(out).to.match(/^[^\n]+\n$/);
      const keys: Array<Record<string, string>> = JSON.parse(out);
      expect(keys.map(revived)).to.deep.equal([SHOP, WINDOW]);
    });

    it('prints an empty array for machines when there are none', async () => {
      operations.keys = [];
      expect(await run('keys', 'list', '--json')).to.deep.equal(printed('[]\n'));
    });
  });

  describe('keys revoke', () => {
    it('notes since when the key is revoked', async () => {
      expect(await run('keys', 'revoke', '9aB3cD4e')).to.deep.equal(
        noted('Key 9aB3cD4e (shop window) is revoked since 2026-12-01T00:00:00.000Z.'),
      );
      expect(operations.asked).to.deep.equal([['revoke', '9aB3cD4e']]);
    });

    it('prints the key as it is now for machines with --json', async () => {
      const { out, notes } = await run('keys', 'revoke', '--json', '9aB3cD4e');
      expect(notes).to.deep.equal([]);
      expect(revived(JSON.parse(out))).to.deep.equal(WINDOW);
    });

    it('takes an id that begins with a dash behind --', async () => {
      await run('keys', 'revoke', '--', '-aB3cD4e');
      expect(operations.asked).to.deep.equal([['revoke', '-aB3cD4e']]);
    });
  });

  describe('keys rotate', () => {
    it('prints the new key alone, and notes until when the old one is good', async () => {
      expect(await run('keys', 'rotate', '9aB3cD4e')).to.deep.equal({
        code: 0,
        out: 'ast_live_the_new_key\n',
        notes: [
          'Key 4fZk02Qa takes the place of 9aB3cD4e, which expires at 2027-02-19T11:30:00.250Z; itself it does not expire.',
        ],
      });
    });

    it('overlaps 24 hours when not told', async () => {
      await run('keys', 'rotate', '9aB3cD4e');
      expect(operations.asked).to.deep.equal([['rotate', '9aB3cD4e', { overlap: 86_400_000 }]]);
    });

    it('overlaps as long as it is told, 0 being not at all', async () => {
      await run('keys', 'rotate', '9aB3cD4e', '--overlap', '90m');
      await run('keys', 'rotate', '--overlap=0', '9aB3cD4e');
      expect(operations.asked.map(([, , options]) => options)).to.deep.equal([
        { overlap: 5_400_000 },
        { overlap: 0 },
      ]);
    });

    it('prints both keys for machines with --json', async () => {
      const { out } = await run('keys', 'rotate', '9aB3cD4e', '--json');
      const { key, replaced, ...record }: { key: string; replaced: Record<string, string> } = JSON.parse(out);
      expect(key).to.equal('ast_live_the_new_key');
      expect(revived(record)).to.deep.equal(SHOP);
      expect(revived(replaced)).to.deep.equal(WINDOW);
    });
  });

  describe('copy', () => {
    const LINE = ['copy', '--from', 'sqlite:old.db', '--to', 'sqlite:new.db'];
    const GO_ON = 'What was copied stays: the same command with --resume goes on.';

    it('prints what was copied, from where to where, and that both are equal', async () => {
      expect(await run(...LINE)).to.deep.equal(
        printed(
          [
            '1,234,567 animals, 1 live claim and 0 API keys copied',
            '  from /stores/old.db',
            '  to   /stores/new.db',
            `Both hold the same: the checksum of the animals is ${COPIED.checksum}.`,
            'New animals get ids greater than 9,007,199,254,740,993.',
            '',
          ].join('\n'),
        ),
      );
      expect(operations.asked).to.deep.equal([
        ['copy', { from: 'sqlite:old.db', to: 'sqlite:new.db', resume: false }],
      ]);
    });

    it('resumes when told, and says how much of it was done now', async () => {
      const { out } = await run(...LINE, '--resume');
      expect(out).to.include('1,234,567 animals (1 of them now), ');
      expect(operations.asked).to.deep.include([
        'copy',
        { from: 'sqlite:old.db', to: 'sqlite:new.db', resume: true },
      ]);
    });

    it('prints all there is to know for machines with --json, ids to the digit', async () => {
      const { out, notes } = await run(...LINE, '--json');
      expect(notes).to.deep.equal([]);
      expect(out)
        .to.match(/^[^\n]+\n$/)
        .and.include('"lastId":9007199254740993,');
      expect(JSON.parse(out)).to.deep.equal({ ...COPIED, lastId: Number(COPIED.lastId) });
    });

    it('tells on stderr how it gets on', async () => {
      operations.progress = [{ phase: 'copying', done: 7, total: 7 }];
      const { out, notes } = await run(...LINE, '--json');
      expect(notes).to.have.length(1);
      expect(notes[0]).to.match(/^copying 100 %, 7 of 7/);
      expect(JSON.parse(out)).to.include({ pets: 1_234_567 });
    });

    it('exits as shells do when it was interrupted, and says how to go on', async () => {
      operations.failure = new InterruptedError('SIGINT', 130);
      expect(await run(...LINE)).to.deep.equal({
        code: 130,
        out: '',
        notes: [`Interrupted by SIGINT. ${GO_ON}`],
      });
    });

    it('exits with 1 and says how to go on when a store is away, and why', async () => {
      operations.failure = new UnavailableError('writing animals', {
        cause: new Error('database or disk is full'),
      });
      expect(await run(...LINE)).to.deep.equal({
        code: 1,
        out: '',
        notes: [`The store is not available (writing animals).\ndatabase or disk is full\n${GO_ON}`],
      });
    });

    const HINTS = {
      same_store: undefined,
      source_empty: undefined,
      target_not_empty: 'With --resume a copy of this source goes on, however it ended.',
      target_differs: undefined,
      source_changed: 'The same command with --resume brings the rest.',
      not_verified: undefined,
    } as const satisfies Record<CopyFault, string | undefined>;
    for (const [fault, hint] of Object.entries(HINTS)) {
      it(`exits with 1 and says what to do at ${fault}`, async () => {
        operations.failure = new CopyError(fault as CopyFault, 'animal 7');
        const { code, out, notes } = await run(...LINE);
        expect({ code, out }).to.deep.equal({ code: 1, out: '' });
        expect(notes).to.deep.equal([[operations.failure.message, hint ?? []].flat().join('\n')]);
        expect(notes[0]).to.include('(animal 7)');
      });
    }

    it('throws what it does not know', async () => {
      operations.failure = new Error('the store is a letter to a friend');
      await rejects(run(...LINE), operations.failure);
    });
  });

  describe('deprecations', () => {
    it('prints one line for each day, operation and key, below a line of titles', async () => {
      expect(await run('deprecations')).to.deep.equal(
        printed(
          [
            'DAY         OPERATION  KEY ID               KEY NAME  CALLS  LAST CALL',
            '2026-11-20  getPet     4fZk02Qa             shop      1234   2026-11-20T23:59:59.999Z',
            '2026-11-21  getPet     static-7817f5e20259  -         1      2026-11-21T00:00:00.000Z',
            '',
          ].join('\n'),
        ),
      );
      expect(operations.asked).to.deep.equal([['deprecations', { since: undefined }]]);
    });

    it('asks for what came since a day', async () => {
      await run('deprecations', '--since', '2026-11-21');
      await run('deprecations', '--since=2028-02-29');
      expect(operations.asked).to.deep.equal([
        ['deprecations', { since: '2026-11-21' }],
        ['deprecations', { since: '2028-02-29' }],
      ]);
    });

    it('prints nothing, and says so, when nobody called', async () => {
      operations.reported = [];
      expect(await run('deprecations')).to.deep.equal(noted('No key has called a deprecated operation.'));
      expect(await run('deprecations', '--since', '2026-11-21')).to.deep.equal(
        noted('No key has called a deprecated operation since 2026-11-21.'),
      );
    });

    it('prints all that is known for machines with --json', async () => {
      const { out, notes } = await run('deprecations', '--json');
      expect(notes).to.deep.equal([]);
      expect(out).to.match(/^[^\n]+\n$/);
      const reported: Array<Record<string, unknown>> = JSON.parse(out);
      expect(reported).to.deep.equal(
        REPORTED.map((calls) => ({ ...calls, lastAt: calls.lastAt.toISOString() })),
      );
      operations.reported = [];
      expect(await run('deprecations', '--json')).to.deep.equal(printed('[]\n'));
    });

    it('shows no name or id that a terminal would obey', async () => {
      const [calls] = REPORTED;
      if (calls === undefined) throw new Error('nothing reported');
      operations.reported = [{ ...calls, keyId: 'a\u001b[2J\nb', keyName: 'c\u202ed' }];
      const { out } = await run('deprecations');
      expect(out.split('\n')[1]).to.match(/getPet {5}a\ufffd\[2J\ufffdb {2}c\ufffdd {2,}/);
    });
  });

  describe('check-store', () => {
    const broken = Object.assign(new Error("'sold' !== 'gone'"), { name: 'AssertionError' });
    const CHECKS: readonly PortCheck[] = [
      {
        port: 'PetRepository',
        undeclared: ['shared'],
        cases: [
          checked('keeps a name'),
          { ...checked('keeps a status'), outcome: 'failed', error: broken },
          { ...checked('survives'), outcome: 'skipped', reason: 'it does not declare itself durable' },
          { ...checked('walks'), notes: ['with 5 animals, not 10000'] },
          { ...checked('is seen by others'), outcome: 'passed' },
        ],
      },
      {
        port: 'ApiKeyRepository',
        undeclared: [],
        cases: [
          { ...checked('keeps a key'), outcome: 'skipped', reason: 'the store keeps no API keys' },
          { ...checked('lists keys'), outcome: 'skipped', reason: 'the store keeps no API keys' },
        ],
      },
    ];

    it('tells of each port what failed, what was skipped and why, and what is to be noted; and exits with 1', async () => {
      operations.checks = CHECKS;
      expect(await run('check-store', './shelf.js')).to.deep.equal({
        ...printed(
          [
            'PetRepository: 3 passed, 1 failed, 1 skipped (1.0 s)',
            '  failed: keeps a status',
            "    'sold' !== 'gone'",
            '  skipped: it does not declare itself durable',
            '    survives',
            '  note: not declared to be shared, though every case of it passed',
            '  note: walks: with 5 animals, not 10000',
            'ApiKeyRepository: 0 passed, 0 failed, 2 skipped (0.4 s)',
            '  skipped: all of it, for the store keeps no API keys',
            '',
            '3 passed, 1 failed, 3 skipped.',
            '',
          ].join('\n'),
        ),
        code: 1,
      });
      expect(operations.asked).to.deep.equal([['check-store', { module: './shelf.js' }]]);
    });

    it('exits with 0 when nothing failed', async () => {
      operations.checks = CHECKS.slice(1);
      expect((await run('check-store', './shelf.js')).code).to.equal(0);
    });

    it('shows where an error came from, with what caused it, no longer than a screen', async () => {
      const error = new TypeError('pets is not iterable', { cause: new Error('no disk') });
      const long = Object.assign(new Error('line\n'.repeat(60)), { name: 'AssertionError' });
      operations.checks = [error, long].map((failure) => ({
        port: 'PetRepository',
        undeclared: [],
        cases: [{ ...checked('lists'), outcome: 'failed', error: failure }],
      }));
      const { out } = await run('check-store', './shelf.js');
      expect(out).to.match(
        /failed: lists\n {4}TypeError: pets is not iterable\n {8}at .*cli\.test\.[^]*\n {4}caused by Error: no disk\n/,
      );
      expect(out).to.match(/(?: {4}line\n){40} {4}\.\.\. \(21 more lines; see --json\)\n/);
    });

    it('prints everything for machines with --json', async () => {
      operations.checks = CHECKS;
      const { code, out } = await run('check-store', './shelf.js', '--json');
      expect(code).to.equal(1);
      const { passed, checks }: { passed: boolean; checks: PortCheck[] } = JSON.parse(out);
      expect(passed).to.equal(false);
      expect(checks.map(({ port }) => port)).to.deep.equal(['PetRepository', 'ApiKeyRepository']);
      expect(checks[0]?.undeclared).to.deep.equal(['shared']);
      expect(checks[0]?.cases[0]).to.deep.equal(checked('keeps a name'));
      expect(checks[0]?.cases[1]?.error).to.include({ name: 'AssertionError', message: "'sold' !== 'gone'" });
      expect(checks[1]?.cases[0]).to.include({ outcome: 'skipped', reason: 'the store keeps no API keys' });
    });

    it('hands on the URL, what to run, how many animals and how long', async () => {
      const line = 'check-store ./shelf.js --url shelf:{name} --only walks --animals 5 --time-limit 2m';
      await run(...line.split(' '));
      expect(operations.asked).to.deep.equal([
        [
          'check-store',
          { module: './shelf.js', url: 'shelf:{name}', only: 'walks', animals: 5, timeLimit: 120_000 },
        ],
      ]);
    });

    it('shows on a terminal how far it is', async () => {
      const shown: string[] = [];
      const terminal = { out() {}, note() {}, show: (line: string) => void shown.push(line) };
      await runCli(['check-store', './shelf.js'], operations, terminal, '1.2.3');
      expect(shown).to.deep.equal(['PetRepository: 1 of 2', 'PetRepository: 2 of 2, 1 failed', '']);
    });

    it('that is told to stop says so, and exits as the signal asks', async () => {
      operations.failure = new InterruptedError('SIGINT', 130);
      const { code, out, notes } = await run('check-store', './shelf.js');
      expect({ code, out }).to.deep.equal({ code: 130, out: '' });
      expect(notes).to.deep.equal([operations.failure.message]);
    });
  });

  describe('used wrongly exits with 2, does nothing, and says', () => {
    const WRONG: ReadonlyArray<readonly [line: string, message: string, see: string]> = [
      ['srve', 'unknown command: "srve"', '--help'],
      [
        'keys',
        'keys is not a command by itself: keys issue, keys list, keys revoke, keys rotate are',
        '--help',
      ],
      [
        'keys destroy',
        'unknown command: "keys destroy", known are keys issue, keys list, keys revoke, keys rotate',
        '--help',
      ],
      ['--port 80', 'unknown command: "--port"', '--help'],
      ['check-store', 'MODULE is missing', 'check-store --help'],
      ['check-store ./a.js ./b.js', 'check-store takes MODULE only', 'check-store --help'],
      [
        'check-store ./a.js --animals 0',
        '--animals must be a number from 1 to 9999999',
        'check-store --help',
      ],
      [
        'check-store ./a.js --time-limit soon',
        '--time-limit must be a duration like 500ms, 30s or 2m',
        'check-store --help',
      ],
      [
        'check-store ./a.js --time-limit 0',
        '--time-limit must be a duration like 500ms, 30s or 2m',
        'check-store --help',
      ],
      ['serve now', 'serve takes no argument', 'serve --help'],
      ['serve --port=80', "Unknown option '--port'", 'serve --help'],
      ['keys issue', '--name is missing', 'keys issue --help'],
      ['keys issue --name', "Option '--name <value>' argument missing", 'keys issue --help'],
      ['keys issue till', 'keys issue takes no argument', 'keys issue --help'],
      [
        'keys issue --name till --scope pets:feed',
        '--scope takes pets:read and pets:write',
        'keys issue --help',
      ],
      ['keys issue --name till --scope=', '--scope takes pets:read and pets:write', 'keys issue --help'],
      [
        'keys issue --name till --expires soon',
        '--expires must be a duration like 500ms, 5s, 2m, 24h or 90d',
        'keys issue --help',
      ],
      ['keys list all', 'keys list takes no argument', 'keys list --help'],
      ['keys list --json=yes', "Option '--json' does not take an argument", 'keys list --help'],
      ['copy', '--from is missing', 'copy --help'],
      ['copy --from sqlite:a', '--to is missing', 'copy --help'],
      ['copy --to sqlite:a', '--from is missing', 'copy --help'],
      ['copy sqlite:a sqlite:b', 'copy takes no argument', 'copy --help'],
      ['copy --from sqlite:a --to sqlite:b --force', "Unknown option '--force'", 'copy --help'],
      ...['2026-02-30', '2026-11', 'yesterday', '2026-11-01T00:00:00Z', '20261101', ''].map(
        (day) =>
          [
            `deprecations --since=${day}`,
            '--since must be a day (in UTC) like 2026-11-01',
            'deprecations --help',
          ] as const,
      ),
      ['deprecations --since', "Option '--since <value>' argument missing", 'deprecations --help'],
      ['deprecations getPet', 'deprecations takes no argument', 'deprecations --help'],
      ['keys revoke', 'ID is missing', 'keys revoke --help'],
      ['keys revoke 4fZk02Qa 9aB3cD4e', 'keys revoke takes ID only', 'keys revoke --help'],
      ['keys rotate', 'ID is missing', 'keys rotate --help'],
      [
        'keys rotate 9aB3cD4e --overlap -1h',
        "Option '--overlap' argument is ambiguous",
        'keys rotate --help',
      ],
      [
        'keys rotate 9aB3cD4e --overlap 1.5h',
        '--overlap must be a duration like 500ms, 5s, 2m, 24h or 90d',
        'keys rotate --help',
      ],
    ];
    for (const [line, message, see] of WRONG) {
      it(`${message}, to ${line}`, async () => {
        const { code, out, notes } = await run(...line.split(' '));
        expect({ code, out, asked: operations.asked }).to.deep.equal({ code: 2, out: '', asked: [] });
        expect(notes).to.have.length(1);
        expect(notes[0]).to.satisfy((note: string) => note.startsWith(message));
        expect(notes[0]).to.match(/^.*\n.*$/, 'one line of what is wrong, and one of where to look');
        expect(notes[0]).to.satisfy((note: string) => note.endsWith(`\nSee: animal-store ${see}`));
      });
    }

    it('what an operation says of its values', async () => {
      operations.failure = new InvalidParameterError([{ field: 'name', message: 'must not be blank' }]);
      expect(await run('keys', 'issue', '--name', ' ')).to.deep.equal({
        code: 2,
        out: '',
        notes: ['The call is not valid: name must not be blank.\nSee: animal-store keys issue --help'],
      });
    });

    it('never what stood in the place of a command name, but its beginning: it may be a key', async () => {
      const key = `ast_live_4fZk02Qa_${'s'.repeat(43)}_abcdef`;
      for (const args of [['revoke', key], ['keys', key], ['keys', 'revoke', 'ID', key], [key]]) {
        const { code, notes } = await run(...args);
        expect(code).to.equal(2);
        expect(notes.join('\n')).to.not.include('sss');
      }
    });
  });
});

/** What was written as JSON, with its times as dates again. */
const revived = (key: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(key).map(([name, value]) => [name, name.endsWith('At') ? new Date(String(value)) : value]),
  );
