import { expect } from 'chai';
import fs, {
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { run } from '../../../src/bootstrap/commands/run.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import {
  MAX_GIVEN_ID,
  PET_FIELDS,
  PET_RULES,
  petWithId,
  type Pet,
} from '../../../src/domain/pet.js';
import { stringifyJson } from '../../../src/exact-json.js';
import { FULL_PET } from '../../contract/samples.js';
import { cleanUp, program, shellLine, temporaryFolder } from '../../service/running-service.js';
import { Shelf, TestIo, changed, type Outcome } from '../test-io.js';
import { TOKENS, type Wiring } from '../../../src/bootstrap/service/wiring.js';

const HEADER = 'name,categoryId,status\n';
const LONG_NAMES = Array.from({ length: 6000 }, (_, index) => `Pet ${index}`);
const LONG_FILE = HEADER + LONG_NAMES.map((name) => `${name},1,sold\n`).join('');

/** Animals whose names and numbers are hard on every format. */
const HARD: readonly Pet[] = [
  ['Rex', 'a,b', 'say "hi"', '"', 'two\nlines', 'two\r\nlines', 'end\r', ' spaced ', '=1+1', '42'],
  ['桜\u2028x', '\u{1f436}', '\ufeffmark', '\\n', "'", 'null', '𐍈'.repeat(1000)],
]
  .flat()
  .map((name, index) =>
    petWithId(BigInt(3 * index + 1), {
      ...FULL_PET,
      name,
      categoryId: index % 2 ? INT64_MAX : INT64_MIN,
    }),
  );

const NEW_IDS =
  'The ids of the file are not kept: an import adds animals and never changes one, also where the store has its id. --update changes animals by their ids; --keep-ids restores an export into an empty store.';

const fail = () => Promise.reject(new Error('opened'));

function notSupported(): never {
  throw Object.assign(new Error('EPERM: not supported'), { code: 'EPERM', syscall: 'link' });
}

/** A process whose store is on the shelf. */
const shelfIo = (stdin?: string[]): TestIo =>
  new TestIo({ STORE_URL: 'shelf:' }, stdin && { stdin });

describe('import and export', () => {
  let folder: string;
  let store: CompleteStore;
  beforeEach(async () => {
    folder = temporaryFolder();
    store = openMemoryStore();
  });
  afterEach(cleanUp);

  const path = (name: string): string => join(folder, name);
  const fileText = (name: string): string => readFileSync(path(name), 'utf8');

  /** Runs a command on the store, whose `pets` may differ. */
  async function shell(
    line: string,
    pets: Partial<PetRepository> = {},
    io = shelfIo(),
  ): Promise<Outcome> {
    const shelf = new Shelf({ ...store, location: 'shelf 1', pets: changed(store.pets, pets) });
    const code = await run(line.split(' '), io.io, [shelf.module]);
    expect(shelf.closed).to.equal(shelf.opened.length);
    return { code, out: io.out, err: io.err };
  }

  /** Imports a file with this content. */
  function imported(
    content: string | Buffer,
    options = '',
    name = 'a.csv',
    pets: Partial<PetRepository> = {},
  ) {
    writeFileSync(path(name), content);
    return shell(`import ${path(name)}${options}`, pets);
  }

  const stored = () => store.pets.list({ limit: 9999 });
  const names = async () => (await stored()).map(({ name }) => name);
  const statuses = async () => (await stored()).map(({ status }) => status);

  for (const ending of ['csv', 'ndjson']) {
    it(`give the same ${ending} file byte for byte, by way of another store`, async () => {
      await store.transfer.writePets(HARD);
      const first = path(`first.${ending}`);

      expect(await shell(`export ${first}`)).to.include({ code: 0 });
      expect(statSync(first).mode & 0o777).to.equal(0o600);

      store = openMemoryStore();
      expect(await shell(`import ${first} --keep-ids`)).to.include({ code: 0, err: '' });
      expect(await store.pets.list({ limit: 99 })).to.deep.equal(HARD);

      await shell(`export ${path(`second.${ending}`)}`);
      const second = readFileSync(path(`second.${ending}`), 'latin1');
      expect(second).to.equal(readFileSync(first, 'latin1'));
      expect((await store.pets.add({ name: 'New', categoryId: 1n, status: 'sold' })).id).to.equal(
        50n,
      );
    });
  }

  it('read members of a line, not what every object inherits, by any --map', async () => {
    const line = '{"name":"Bella","categoryId":1}\n';
    for (const name of ['constructor', 'toString', '__proto__']) {
      expect(await imported(line, ` --map status=${name}`, 'a.ndjson'), name).to.include({
        code: 0,
        err: '',
      });
    }
    expect(await statuses()).to.deep.equal(Array(3).fill('available'));
  });

  it('write and read every field of the domain', async () => {
    // As it is: a domain that drops a field shows in the contracts.
    const pet = { id: 1n, ...FULL_PET };
    const list: PetRepository['list'] = async ({ after }) => (after === undefined ? [pet] : []);
    for (const file of ['a.csv', 'a.ndjson']) await shell(`export ${path(file)}`, { list });
    const fields = ['id', ...PET_FIELDS];
    const values = [1n, ...PET_FIELDS.map((field) => FULL_PET[field])];

    expect(fileText('a.csv')).to.equal(`${fields.join(',')}\n${values.join(',')}\n`);
    expect(Object.keys(JSON.parse(fileText('a.ndjson')))).to.deep.equal(fields);

    for (const file of ['a.csv', 'a.ndjson']) await shell(`import ${path(file)}`);
    expect(await store.pets.list({ limit: 9 })).to.deep.equal([pet, { ...pet, id: 2n }]);
  });

  it('go through a pipe, and into an SQLite store, with their ids', async function () {
    this.timeout(30_000);
    const [from = '', to = ''] = ['from.db', 'to.db'].map((name) => `sqlite:${path(name)}`);
    writeFileSync(path('a.csv'), LONG_FILE);
    const first = await program(folder, ['import', 'a.csv', '--json'], { STORE_URL: from }).ended;

    expect(JSON.parse(first.out)).to.deep.include({ added: 6000, to: path('from.db') });

    const pipe = `"$NODE" "$MAIN" export - --format csv | STORE_URL=${to} "$NODE" "$MAIN" import - --format csv --keep-ids`;
    expect(await shellLine(folder, pipe, { STORE_URL: from }).ended).to.include({
      code: 0,
      out: `Added animals: 6000\n  from -\n  to   ${path('to.db')}\n`,
    });

    const copy = await openSqliteStore(path('to.db'));
    const ids = (await copy.pets.list({ limit: 9999 })).map(({ id }) => Number(id));
    await copy.close();

    expect(ids).to.deep.equal(Array.from({ length: 6000 }, (_, index) => index + 1));
  });

  describe('import', () => {
    it('assigns new ids in the order of the file, and says what it did', async () => {
      await store.transfer.reserveIds(7n);
      const { code, out, err } = await imported(
        'id,status,name,more,categoryId\n1,sold,Rex,x,9223372036854775807\n2,,Bo,,-1\n',
      );

      expect({ code, err }).to.deep.equal({ code: 0, err: `Not read: id, more.\n${NEW_IDS}\n` });
      expect(out).to.equal(
        `Added animals: 2\n  from ${path('a.csv')}\n  to   shelf 1\n  not read: id, more\n`,
      );
      expect(await stored()).to.deep.equal([
        { id: 8n, name: 'Rex', categoryId: INT64_MAX, status: 'sold' },
        { id: 9n, name: 'Bo', categoryId: -1n, status: 'available' },
      ]);
    });

    it('reads other names by --map, a byte order mark, Windows lines and blank lines', async () => {
      const map = ' --map name=Ani=mal,categoryId=Kind';
      const { code, err } = await imported('\ufeffAni=mal,Kind\r\nRex,1\r\n\r\n"B\r\no",2', map);
      await imported(
        '\ufeff{"Kind":7e0,"Ani=mal":"Max","x":{}}\r\n\n{"Kind":9223372036854775807,"Ani=mal":"Eve","status":null}',
        map,
        'a.jsonl',
      );

      expect(code, err).to.equal(0);

      const status = 'available';
      expect(await stored()).to.deep.equal([
        { id: 1n, name: 'Rex', categoryId: 1n, status },
        { id: 2n, name: 'B\r\no', categoryId: 2n, status },
        { id: 3n, name: 'Max', categoryId: 7n, status },
        { id: 4n, name: 'Eve', categoryId: INT64_MAX, status },
      ]);
    });

    for (const [what, content] of Object.entries({
      semicolons: 'name;categoryId;status\n"a;b,c";1;sold\n',
      'tabs, also beside others in quotes':
        '",;,;,;"\t"name"\tcategoryId\tstatus\n\t\t\t\n\ta;b,c\t1\tsold\n',
      'commas, without lines of commas alone': 'name,categoryId\n,\n"a;b,c",1\n,,,\n',
      'what Excel says in a line before':
        '\ufeffsep=;\r\nname;categoryId;status,1,2,3\r\n"a;b,c";1;\r\n',
      'commas, with an empty column behind': 'name,categoryId,\n"a;b,c",1,\n',
    }))
      it(`reads columns between ${what}`, async () => {
        expect((await imported(content)).err).to.match(/^(?:Not read: [^\n]+\n)?$/);
        expect(await names()).to.deep.equal(['a;b,c']);
      });

    it('reads names of columns and members with blanks around them and in any case', async () => {
      for (const [content, options, name] of [
        ['NAME, CategoryID ,Status\nRex,1,sold\n', '', 'a.csv'],
        ['\ufeff"Name";"CATEGORYID";"status "\nRex;1;sold\n', '', 'a.csv'],
        ['Animal ,kind,STATUS\nRex,1,sold\n', ' --map name=animal,categoryId=Kind', 'a.csv'],
        ['{"Name":"Rex","CATEGORYID":1," status ":"sold"}\n', '', 'a.ndjson'],
        ['{"ANIMAL":"Rex","categoryId":1,"Status":"sold"}\n', ' --map name=Animal', 'a.ndjson'],
      ] as const) {
        store = openMemoryStore();
        expect(await imported(content, options, name), content).to.include({ code: 0, err: '' });
        expect(await stored()).to.deep.equal([
          { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
        ]);
      }
    });

    for (const [file, content] of [
      ['a.csv', 'name,categoryId,Extra,St\u009btus\nRex,1,sold,sold\n'],
      [
        'a.ndjson',
        '{"name":"Rex","categoryId":1}\n{"name":"Bo","categoryId":1,"Extra":"sold","St\u009btus":1}\n',
      ],
    ] as const)
      it(`names what it does not read of ${file}, on stderr, in the summary and in JSON`, async () => {
        const { code, err, out } = await imported(content, '', file);
        const checked = await imported(content, ' --map status=extra --dry-run --json', file);

        expect({ code, err }).to.deep.equal({ code: 0, err: 'Not read: Extra, St\ufffdtus.\n' });
        expect(out).to.match(/\n {2}not read: Extra, St\ufffdtus\n$/);
        expect(checked.err).to.match(/^Not read: St\ufffdtus\.\n/);
        expect(JSON.parse(checked.out || '{}').unread).to.deep.equal(['St\ufffdtus']);
      });

    it('names columns and members without a name that hold text', async () => {
      const content = ',name,categoryId, ,\n,A,1,,\n,B,1,sold\n\u00a0,C,1,\n';
      const { code, err } = await imported(content);

      expect({ code, err }).to.deep.equal({
        code: 0,
        err: 'Not read: column 4, which has no name.\n',
      });

      const member = '{"name":"A","categoryId":1," ":"sold"}\n';
      expect((await imported(member, '', 'a.ndjson')).err).to.equal('Not read: "".\n');
    });

    it('takes no longer for columns without a name than for others', async () => {
      const lines = 'A,1\n'.repeat(20_000);
      const timeWith = async (column: string): Promise<number> => {
        const start = process.cpuUsage();
        await imported(`name,categoryId${column.repeat(100_000)}\n${lines}`, ' --dry-run');
        return process.cpuUsage(start).user;
      };

      const named = await timeWith(',x');
      const unnamed = await timeWith(', ');

      expect(unnamed / named, 'how many times as long').to.be.below(5);
    });

    it('names a hundred of the members that it does not read, and always id', async () => {
      const members = Array.from({ length: 200 }, (_, at) => `"${at}${'x'.repeat(500)}":1`);
      const many = `{"name":"A","categoryId":1,${members.join()},"id":1}`;
      const { err } = await imported(many, '', 'a.ndjson');

      expect(err).to.match(/^Not read: (?:\d+x+, ){100}id\.\n/);
      expect(err).to.have.length.below(11_000);
    });

    it('says that ids are not kept, whichever way an import adds animals', async () => {
      const content = '{"ID":7,"name":"A","categoryId":1}';
      for (const options of [' --once --dry-run', ' --once']) {
        const { code, err } = await imported(content, options, 'a.ndjson');
        expect({ code, err }, options).to.deep.equal({
          code: 0,
          err: `Not read: ID.\n${NEW_IDS}\n`,
        });
      }
      const { err } = await shell('import - --format ndjson', {}, shelfIo([content]));

      expect(err, 'of standard input').to.include(NEW_IDS);
    });

    for (const [what, end] of Object.entries({ CR: '\r', CRLF: '\r\n', LF: '\n' }))
      it(`reads lines that end with ${what}, wherever chunks end, and counts them`, async () => {
        const lines = [
          ...LONG_FILE.split('\n').slice(0, -1),
          '"two\r\n\rlines",2,sold',
          'A,x,sold',
        ];
        expect((await imported(lines.join(end))).err).to.include(
          `:${lines.length + 2}: The animal`,
        );
        expect((await imported(lines.slice(0, -1).join(end))).err).to.equal('');
        expect(await names()).to.deep.equal([...LONG_NAMES, 'two\r\n\rlines']);

        const json = LONG_NAMES.map((name) => `{"name":"${name}","categoryId":1}`);
        store = openMemoryStore();

        expect((await imported([...json, ''].join(end), '', 'a.ndjson')).err).to.equal('');
        expect(await names()).to.deep.equal(LONG_NAMES);

        const mixed = `name,categoryId${end}A,1\nB,1\rC,1\r\nD,1`;
        store = openMemoryStore();
        await imported(mixed);

        expect(await names()).to.deep.equal(['A', 'B', 'C', 'D']);
      });

    it('takes cells that are missing at the end of a line for empty ones', async () => {
      const lines = 'name,categoryId,status,more\nA,1,sold\nB,1\nC,1,sold,x\n';
      expect(await imported(lines)).to.include({ code: 0, err: 'Not read: more.\n' });
      expect(await statuses()).to.deep.equal(['sold', 'available', 'sold']);
      expect((await imported('status,name,categoryId\nsold,A\n')).err).to.include(
        ':2: The line has 2 fields, not 3.',
      );
    });

    /** Lines that are not valid, by reason. Valid lines stand before and after each. */
    const INVALID = 'The animal is not valid:';
    const STATUS = 'status must be one of available, pending, sold.';
    const CATEGORY = `categoryId must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
    const QUOTE =
      'The line is not CSV: a quote is misplaced, has blanks beside it or is not closed, or the record is longer than 1 MiB.';
    const BAD_CSV: ReadonlyArray<readonly [line: string, reason: string]> = [
      [' ,1,sold', `${INVALID} name ${PET_RULES.name(' ')}.`],
      [`${'x'.repeat(1001)},1,sold`, `${INVALID} name must not be longer than 1000 characters.`],
      ['A,9223372036854775808,sold', `${INVALID} ${CATEGORY}.`],
      ['A,7.0,lost', `${INVALID} ${CATEGORY}; ${STATUS}`],
      ['A,007,sold', `${INVALID} ${CATEGORY}.`],
      [',,7', `${INVALID} name is required; categoryId is required; ${STATUS}`],
      ['A', 'The line has 1 fields, not 3.'],
      ['A, 7 ,sold', 'categoryId has blanks around its value: remove them.'],
      ['A,\u00a07,sold', 'categoryId has blanks around its value: remove them.'],
      ['A,7,sold ', 'status has blanks around its value: remove them.'],
      ['A,7,"\tsold"', 'status has blanks around its value: remove them.'],
      ['A, x ,sold', `${INVALID} ${CATEGORY}.`],
      ['"A" ,1,sold', QUOTE],
      ['A, "1",sold', QUOTE],
      ['5" fish,1,sold', QUOTE],
      ['"A"b,1,"sold"', QUOTE],
      ['A,1,sold,', 'The line has 4 fields, not 3.'],
    ];
    const NO_OBJECT = 'The line is not a JSON object.';
    const BAD_JSON: typeof BAD_CSV = [
      ['{"name":"A","categoryId":1.5,"status":"sold"}', `${INVALID} ${CATEGORY}.`],
      [
        '{"name":"A","categoryId":5.00000000000000000001,"status":"sold"}',
        `${INVALID} ${CATEGORY}.`,
      ],
      ['{"name":1}', `${INVALID} name must be a string; categoryId is required.`],
      ['{"name":"A","categoryId":9223372036854775808}', `${INVALID} ${CATEGORY}.`],
      ['{"name":"A","name":"B"}', 'Member /name is repeated.'],
      ['{"name":"A","categoryId":1,"x":{"y":1,"\\u0079":2}}', 'Member /x/y is repeated.'],
      ['{"name":"A","Name":"B","categoryId":1}', 'The line has several members name.'],
      ['null', NO_OBJECT],
      ['"Rex"', NO_OBJECT],
      ['7', NO_OBJECT],
      ['[{"name":"A","categoryId":1}]', NO_OBJECT],
      ['{"name"', 'The line is not valid JSON. Expected ":", but the text ends, at position 7.'],
    ];
    for (const [name, start, good, bad] of [
      ['a.csv', HEADER, 'Good,1,sold\n', BAD_CSV],
      ['a.ndjson', '', '{"name":"Good","categoryId":1,"status":"sold"}\n', BAD_JSON],
    ] as const) {
      it(`names each invalid line of ${name} and the reason, and stores nothing`, async () => {
        const content = start + good + bad.map(([line]) => `${line}\n${good}`).join('');
        const { code, out, err } = await imported(content, '', name, { add: fail });
        const first = start === '' ? 2 : 3;
        const lines = bad.map(
          ([, reason], index) => `${path(name)}:${first + 2 * index}: ${reason}\n`,
        );
        const end = `Lines that are not valid: ${bad.length}. Nothing was stored.\n`;

        expect({ code, out, err }).to.deep.equal({ code: 1, out: '', err: lines.join('') + end });
      });
    }

    it('names the line of a quote that is not closed, the last that it can check', async () => {
      const content = `${HEADER}"A\nB",1,sold\nC,x,sold\n"open,1,sold\nD,x,sold\n`;
      const { err } = await imported(content);
      const reasons = [`4: ${INVALID} ${CATEGORY}.`, `5: ${QUOTE}`].map(
        (each) => `${path('a.csv')}:${each}\n`,
      );

      expect(err).to.equal(`${reasons.join('')}Lines that are not valid: 2. Nothing was stored.\n`);
    });

    it('names the lines of misplaced quotes also where no other line holds an animal', async () => {
      for (const line of ['"A"x,1', 'A"x,1', '"A" ,1']) {
        const { code, err } = await imported(`name,categoryId\n${line}\n\n`);
        const end = 'Lines that are not valid: 1. Nothing was stored.\n';
        expect({ code, err }, line).to.deep.equal({
          code: 1,
          err: `${path('a.csv')}:2: ${QUOTE}\n${end}`,
        });
      }
    });

    it('says of a header that is not CSV nothing else', async () => {
      for (const content of ['{"name":"A","categoryId":1}\n', 'name, "categoryId"\nA,1\n']) {
        const { code, err } = await imported(content);

        expect({ code, err }).to.deep.equal({ code: 2, err: `${path('a.csv')}:1: ${QUOTE}\n` });
      }
    });

    it('checks the lines behind each misplaced quote, wherever chunks end', async () => {
      const cycle = 'Good,1,sold\n"A" ,1,sold\n"B\nC",1,sold\nD,x,sold\n';
      const { err } = await imported(HEADER + cycle.repeat(5000));
      expect(err).to.match(/\nLines that are not valid: 10000\. Nothing was stored\.\n$/);
    });

    it('shows the first twenty faults, and counts all', async () => {
      const { err } = await imported(HEADER + 'A,x,sold\n'.repeat(25));
      expect(err.split('\n').filter((line) => line.includes(INVALID))).to.have.length(20);
      expect(err).to.match(/Lines that are not valid: 25\. Nothing was stored\.\n$/);
    });

    it('reads the same wherever chunks end', async () => {
      // A record of each kind at every offset around the end of the first chunk, 65,536 bytes.
      for (let shift = 0; shift < 60; shift += 1) {
        store = openMemoryStore();
        const padding = 'p'.repeat(65_536 - shift - 20);
        const records = [
          'name,categoryId,status,more',
          `A,1,sold,${padding}`,
          '"ü\r\n""x",2,sold,',
        ];
        await imported([...records, 'C,3,sold,', ''].join('\r\n'));
        expect(await names(), `${shift}`).to.deep.equal(['A', 'ü\r\n"x', 'C']);
      }
    });

    it('checks every line and opens no store with --dry-run', async () => {
      const { code, out, err } = await imported(
        `${HEADER}A,1,sold\nB,1,sold\n`,
        ' --dry-run --json',
        'a.csv',
        { add: fail },
      );
      expect(code, err).to.equal(0);

      const result = { from: path('a.csv'), added: 2, line: 3, unread: [] };
      expect(JSON.parse(out)).to.deep.equal(result);
      expect(await imported(`${HEADER}B,x,sold\n`, ' --dry-run')).to.include({ code: 1, out: '' });
      expect(await names()).to.deep.equal([]);
    });

    it('adds each line of the same content once with --once, for a year', async () => {
      const content = `${HEADER}A,1,sold\nA,1,sold\n`;
      await imported(content, ' --once');

      expect(await imported(content, ' --once', 'b.csv')).to.include({
        code: 0,
        out: `Added animals: 0\n  from ${path('b.csv')}\n  to   shelf 1\n`,
      });

      await imported(`${content}B,1,sold\n`, ' --once'); // another file
      expect(await names()).to.deep.equal(['A', 'A', 'A', 'A', 'B']);

      await imported(`${content}B,1,sold\n`);
      expect(await names()).to.have.length(8);

      const claims = await store.transfer.readClaims({ limit: 9, now: 0 });
      const days = claims.map(({ keepUntil }) => Math.round((keepUntil - Date.now()) / 86_400_000));

      expect(new Set(days)).to.deep.equal(new Set([365]));
    });

    it('refuses --once on a store that keeps no claims, and stores nothing', async () => {
      const keyless = { addOnce: undefined };
      expect(await imported(`${HEADER}A,1,sold\n`, ' --once', 'a.csv', keyless)).to.include({
        code: 2,
        err: '--once needs a store that keeps claims. Nothing was written.\n',
      });
      expect(await names()).to.deep.equal([]);
    });

    it('refuses with --once what was imported with another --map', async () => {
      const content = 'name,other,categoryId\nA,B,1\n';
      await imported(content, ' --once');

      expect(await imported(content, ' --once --map name=other')).to.include({
        code: 1,
        err: [
          'Not read: name.\nStopped after line 0. Animals added: 0.\n',
          `${path('a.csv')} was imported before, with another --map.\n`,
        ].join(''),
      });
      expect(await names()).to.deep.equal(['A']);
    });

    it('stores the file that it checked, also when another gets its name meanwhile', async () => {
      const file = path('a.csv');
      const replacing = ({ decorate }: Wiring) =>
        decorate(TOKENS.openOptions, (how) => {
          writeFileSync(path('b.csv'), `${HEADER}B,1,sold\nB,x,sold\n`);
          renameSync(path('b.csv'), file);
          return how;
        });
      writeFileSync(file, `${HEADER}A,1,sold\n`);
      const { module } = new Shelf({ ...store, location: 'shelf 1' });
      const test = shelfIo();

      expect(
        await run(['import', file, '--once'], test.io, [module, replacing]),
        test.err,
      ).to.equal(0);
      expect(await names()).to.deep.equal(['A']);
    });

    it('keeps ids only in an empty store, and only if they ascend', async () => {
      const ids = ['5', '5', '4', 'x', '0', '-1'];
      const wrong = `id,${HEADER}${ids.map((id) => `${id},A,1,sold\n`).join('')}`;
      expect(
        (await imported(wrong, ' --keep-ids')).err.match(
          /:\d: The animal is not valid: id must be /g,
        ),
      ).to.have.length(5);
      expect(await imported(`id,${HEADER}5,A,1,sold\n9,B,1,sold\n`, ' --keep-ids')).to.include({
        code: 0,
      });
      expect((await store.pets.list({ limit: 9 })).map(({ id }) => id)).to.deep.equal([5n, 9n]);

      for (const transfer of [store.transfer, undefined]) {
        store = { ...store, transfer } as CompleteStore;
        expect(await imported(`id,${HEADER}10,A,1,sold\n`, ' --keep-ids')).to.include({
          code: 2,
          err: '--keep-ids needs an empty store that can keep ids. Nothing was written.\n',
        });
      }
    });

    for (const [file, content] of [
      ['a.csv', `id,${HEADER}1,Max,7,sold\n2,B,2,sold\n,New,-1,\n3,C,8,\n`],
      [
        'a.ndjson',
        '{"id":1,"name":"Max","categoryId":7}\n{"id":2,"status":"sold"}\n{"name":"New","categoryId":-1}\n{"id":3,"categoryId":8e0}\n',
      ],
    ] as const)
      it(`changes with --update what differs in ${file}, and adds what has no id`, async () => {
        const ABC = 'A,1,sold\nB,2,sold\nC,3,pending\nD,4,sold\n';
        await imported(HEADER + ABC);
        const before = await stored();
        const check = await imported(content, ' --update --dry-run --json', file);

        expect(JSON.parse(check.out)).to.include({ added: 1, changed: 2 });
        expect(await stored()).to.deep.equal(before);

        const { code, out, err } = await imported(content, ' --update', file);
        expect({ code, err }).to.deep.equal({ code: 0, err: '' });
        expect(out).to.match(/^Added animals: 1, changes: 2\n/);

        const [a, b, c, d] = before;
        expect(await stored()).to.deep.equal([
          { ...a, name: 'Max', categoryId: 7n },
          b,
          { ...c, categoryId: 8n },
          d,
          { id: 5n, name: 'New', categoryId: -1n, status: 'available' },
        ]);
      });

    it('restores with --update what an export says, once', async () => {
      await imported(`${HEADER}A,1,sold\nB,2,sold\n`);
      const before = await stored();
      await shell(`export ${path('kept.csv')}`);
      await store.changes.change(1n, { name: 'Changed', status: 'available' }, before[0] as Pet);
      for (const changes of [1, 0]) {
        const { out } = await shell(`import ${path('kept.csv')} --update`);
        expect(out).to.match(new RegExp(`^Added animals: 0, changes: ${changes}\n`));
        expect(await stored()).to.deep.equal(before);
      }
    });

    it('finds with --update every line that changes no animal, and stores nothing', async () => {
      await imported(`${HEADER}A,1,sold\n`);
      const before = await stored();
      const lines = [
        ['{"name":"New","categoryId":1}', undefined],
        ['{"id":1,"name":"Max"}', undefined],
        ['{"id":2,"name":"Max"}', 'No animal has the id 2.'],
        ['{"id":9223372036854775808,"name":"Max"}', 'id must be a 64-bit integer'],
        ['{"id":"1","name":"Max"}', 'id must be a 64-bit integer'],
        ['{"id":1,"name":" "}', 'name must not be blank'],
        ['{"id":1,"status":"gone","categoryId":1.5}', 'categoryId must be an integer'],
        ['{"id":1}', 'it must have at least one of name, categoryId, status'],
      ] as const;
      const content = lines.map(([line]) => `${line}\n`).join('');
      for (const options of [' --update', ' --update --dry-run']) {
        const { code, err } = await imported(content, options, 'a.ndjson');
        expect(code, err).to.equal(1);
        for (const [index, [, fault]] of lines.entries()) {
          const [shown = ''] = new RegExp(`a.ndjson:${index + 1}: .*`).exec(err) ?? [];
          if (fault === undefined) expect(shown).to.equal('');
          else expect(shown).to.include(fault);
        }
        expect(err).to.include('Lines that are not valid: 6. Nothing was stored.');
        expect(await stored()).to.deep.equal(before);
      }
    });

    it('keeps with --update the last line of an animal, and what others change', async () => {
      await imported(`${HEADER}A,1,sold\n`);
      const lines = Array.from({ length: 200 }, (_, index) => `{"id":1,"name":"Name ${index}"}\n`);
      const inner = store.changes;
      let calls = 0;
      store = {
        ...store,
        changes: {
          ...inner,
          async change(...given) {
            calls += 1;
            if (calls === 1) await inner.change(1n, { categoryId: 9n }, ['sold']);
            if (calls % 2 === 1) await setImmediate();
            return inner.change(...given);
          },
        },
      };

      expect(await imported(lines.join(''), ' --update', 'a.ndjson')).to.include({ code: 0 });
      expect(await stored()).to.deep.equal([
        { id: 1n, name: 'Name 199', categoryId: 9n, status: 'sold' },
      ]);
    });

    it('refuses --update beside --keep-ids, and on a store that changes no animals', async () => {
      const file = `id,${HEADER},A,1,sold\n`;
      expect(await imported(file, ' --update --keep-ids')).to.include({ code: 2 });

      store = { ...store, changes: undefined } as unknown as CompleteStore;
      expect(await imported(file, ' --update')).to.include({
        code: 2,
        err: '--update needs a store that changes animals.\n',
      });
      expect(await stored()).to.deep.equal([]);
    });

    it('keeps no ids that the store has not reserved', async () => {
      store = { ...store, transfer: { ...store.transfer, reserveIds: fail } };
      expect(await imported(`id,${HEADER}5,A,1,sold\n`, ' --keep-ids')).to.include({ code: 1 });
      expect(await stored()).to.deep.equal([]);
    });

    it('keeps no id so high that fewer than 2^32 are left for new animals', async () => {
      expect(MAX_GIVEN_ID).to.equal(INT64_MAX - 2n ** 32n);

      const highest = `id,${HEADER}${MAX_GIVEN_ID},A,1,sold\n`;
      expect(
        (await imported(`${highest}${MAX_GIVEN_ID + 1n},B,1,sold\n`, ' --keep-ids')).err,
      ).to.include(
        `:3: The animal is not valid: id must be an integer from ${MAX_GIVEN_ID + 1n}, after the one before, to`,
      );

      await imported(highest, ' --keep-ids');
      expect((await store.pets.add(FULL_PET)).id).to.equal(MAX_GIVEN_ID + 1n);
    });

    it('adds no more than 64 animals at once, in the order of the file', async () => {
      let adding = 0;
      let most = 0;
      const add: PetRepository['add'] = async (...given) => {
        adding += 1;
        most = Math.max(most, adding);
        await setImmediate();
        adding -= 1;
        return store.pets.add(...given);
      };
      await imported(LONG_FILE, '', 'a.csv', { add });

      expect({ most, names: await names() }).to.deep.equal({ most: 64, names: LONG_NAMES });
    });

    // The last is in the second chunk of the file.
    for (const [before, line] of [
      [3, /^Stopped after line 0\. Animals added: 63\. /],
      [64, /^Stopped after line 65\. Animals added: 127\. /],
      [4000, /^Stopped after line 3[89]\d\d\. Animals added: 40\d\d\. /],
    ] as const)
      it(`continues with --once where a store failed after ${before} animals`, async () => {
        let calls = 0;
        // Within a batch, animals after the one that fails are stored.
        const addOnce: CompleteStore['pets']['addOnce'] = async (...given) => {
          calls += 1;
          if (calls !== before + 1) return store.pets.addOnce(...given);
          throw new UnavailableError('adding', { cause: new Error('disk is full') });
        };
        const { code, out, err } = await imported(LONG_FILE, ' --once', 'a.csv', { addOnce });

        expect({ code, out }).to.deep.equal({ code: 1, out: '' });
        expect(err).to.match(line);
        expect(err).to.include(
          `Animals added: ${(await names()).length}. Some of the next lines may be stored`,
        );
        expect(err).to.match(/\nThe store is not available \(adding\)\. disk is full\n$/);
        expect(await imported(LONG_FILE, ' --once')).to.include({ code: 0 });
        expect(await names()).to.have.members(LONG_NAMES);
      });

    it('stops at a signal with 130', async () => {
      const io = shelfIo();
      const add: PetRepository['add'] = async (...given) => {
        io.emit('SIGINT', 'SIGINT');
        return store.pets.add(...given);
      };
      writeFileSync(path('a.csv'), LONG_FILE);
      const { code, err } = await shell(`import ${path('a.csv')}`, { add }, io);
      const added = (await names()).length;

      expect({ code, err }).to.deep.equal({
        code: 130,
        err: `Stopped after line ${added + 1}. Animals added: ${added}.\nInterrupted by SIGINT.\n`,
      });
    });

    it('reads standard input to its first fault, and says what it stored', async () => {
      const good = '{"name":"A","categoryId":1,"status":"sold"}\n';
      const stdin = [good.repeat(70), `${good}x\n${good}`];

      expect(await shell('import - --format ndjson', {}, shelfIo(stdin))).to.deep.include({
        code: 1,
        out: '',
        err: [
          'Stopped after line 70. Animals added: 70.\n',
          'Standard input:72: The line is not valid JSON. Expected a value at position 0.\n',
        ].join(''),
      });
      expect(await names()).to.have.length(70);

      const csv = [`${HEADER}A,1,sold\n"B"b,1,sold\n`, 'x'.repeat(2 ** 21)];
      const io = shelfIo(csv);

      expect((await shell('import - --format csv', {}, io)).err).to.include(
        `Standard input:3: ${QUOTE}`,
      );
    });

    it('opens regular files only, and says why it cannot read another', async () => {
      const endless =
        'Stopped after line 0. Animals added: 0.\nStandard input: line 1 is longer than 1 MiB.\n';
      for (const [from, reason] of Object.entries({
        pipe: 'pipe is no regular file: use import - < pipe.\n',
        '/dev/zero': '/dev/zero is no regular file: use import - < /dev/zero.\n',
        '- < .': 'Standard input is a folder.\n',
        '- < /dev/zero': endless,
      })) {
        const makePipe = 'test -p pipe || mkfifo pipe';
        const command = `${makePipe} && "$NODE" "$MAIN" import --format csv ${from}`;
        const ended = await shellLine(folder, command, { STORE_URL: 'sqlite:animals.db' }).ended;
        expect(ended).to.include({ code: 2, err: reason });
      }
    });

    /** The second line has 1 MiB. */
    const longest = `name,categoryId,more\nA,1,${'x'.repeat(2 ** 20 - 4)}`;
    it('reads a line of 1 MiB', async () => {
      expect((await imported(longest)).out).to.match(/^Added animals: 1\n/);
    });

    /** Contents that make an import fail, by the message; with options after the content. */
    const WRONG: Readonly<
      Record<string, readonly [content: string | Buffer, options?: string, name?: string]>
    > = {
      'a.csv is empty.': [''],
      'a.csv is empty. ': ['\ufeff\r\n\r\n'],
      'a.csv has a header, and no animals.': [HEADER],
      'a.csv has a header, and no animals. ': ['sep=;\nname;categoryId\n;\n', ' --dry-run'],
      'a.ndjson has blank lines only.': ['\ufeff\n \r\n', '', 'a.ndjson'],
      'a.ndjson has blank lines only. ': ['\n', ' --dry-run', 'a.ndjson'],
      'a.csv has no column name. Use --map name=COLUMN.': ['Animal,categoryId\n'],
      'a.csv has no column name, no column categoryId. Use --map name=COLUMN,categoryId=COLUMN.': [
        'Animal;Kind\nA;1\n',
      ],
      'a.csv has no column name, 2 columns status. Use --map name=COLUMN,status=COLUMN.': [
        'categoryId,status, Status\n',
      ],
      'a.csv has 2 columns categoryId.': ['name,categoryId,CategoryId\nA,1,2\n'],
      '--map id needs --keep-ids or --update: without them the store assigns new ids.': [
        `Nr,${HEADER}7,A,1,sold\n`,
        ' --map id=Nr',
      ],
      'a.csv has no column Zustand. Use': ['name,categoryId\n', ' --map status=Zustand'],
      'a.csv: line 1 is not UTF-8.': [Buffer.from(`\ufeff${HEADER}`, 'utf16le')],
      'a.csv: line 2 is not UTF-8.': [Buffer.from(`${HEADER}M\xc3`, 'latin1')], // cut off
      'a.csv: line 10001 is not UTF-8.': [
        Buffer.from(`${HEADER}${'A,1,sold\n'.repeat(9999)}\xff`, 'latin1'),
      ],
      'a.csv: line 2 is longer than 1 MiB': [`${longest}x\nA,1,\n`],
      'a.csv.gz has no ending of a format': ['', '', 'a.csv.gz'],
      'Allowed choices are csv, ndjson, jsonl.': ['', ' --format xml'],
    };
    for (const [message, [content, options, name]] of Object.entries(WRONG))
      it(`ends with 2 and one line: ${message}`, async () => {
        const { code, out, err } = await imported(content, options, name);
        expect({ code, out }).to.deep.equal({ code: 2, out: '' });
        expect(err.split('\n')[0]).to.include(message.trim());
      });

    it('reads an empty NDJSON file, the export of an empty store', async () => {
      const { code, out } = await imported('', '', 'a.ndjson');
      expect({ code, out: out.split('\n')[0] }).to.deep.equal({ code: 0, out: 'Added animals: 0' });
    });

    it('names a record of more than 1 MiB', async () => {
      mock.timers.enable({ apis: ['setInterval'] }); // a busy machine needs more than five seconds
      const { err } = await imported(`${HEADER}A,1,sold\n"${'x\n'.repeat(600_000)}",1,sold\n`);
      mock.timers.reset();

      expect(err).to.equal(
        `${path('a.csv')}:3: ${QUOTE}\nLines that are not valid: 1. Nothing was stored.\n`,
      );
    });

    it('says every five seconds how far it is, until it fails', async () => {
      mock.timers.enable({ apis: ['setInterval'] });
      const said: string[] = [];
      const io = shelfIo();
      const add: PetRepository['add'] = (...given) => {
        mock.timers.tick(2500);
        said.push(io.err);
        return said.length === 2 ? fail() : store.pets.add(...given);
      };
      writeFileSync(path('a.csv'), `${HEADER}A,1,sold\nB,1,sold\n`);
      await shell(`import ${path('a.csv')}`, { add }, io);
      mock.timers.tick(5000);
      mock.timers.reset();

      expect(said).to.deep.equal(['', 'line 2\n']);
      expect(io.err).to.match(/^line 2\nStopped [^\n]+\nopened\n$/);
    });
  });

  /** Exports while another program writes a file of the same name, which must remain. */
  async function expectOtherFileKept(): Promise<void> {
    const list: PetRepository['list'] = (range, call) => {
      writeFileSync(path('a.csv'), 'of another');
      return store.pets.list(range, call);
    };
    const { code, err } = await shell(`export ${path('a.csv')}`, { list });

    expect(code, err).to.equal(1);
    expect(err).to.match(/^[^\n]+a\.csv cannot be written\. EEXIST: [^\n]+\n$/);
    expect(fileText('a.csv')).to.equal('of another');
  }

  describe('export', () => {
    it('shows one moment of an SQLite store while a service changes it', async () => {
      const file = path('animals.db');
      const service = await openSqliteStore(file);
      const adding = Array.from({ length: 1500 }, (_, index) =>
        service.pets.add({ name: `Pet ${index}`, categoryId: 7n, status: 'available' }),
      );
      const added = await Promise.all(adding);
      const changing = ({ decorate }: Wiring) =>
        decorate(TOKENS.petRepository, (inner) =>
          changed(inner, {
            async list(range, call) {
              const page = await inner.list(range, call);
              await service.changes
                .change(1400n, { status: 'sold' }, ['available'])
                .catch(() => {});
              await service.changes.remove(1401n, ['available']);
              await service.pets.add({ name: 'later', categoryId: 7n, status: 'available' });
              return page;
            },
          }),
        );
      const test = new TestIo({ STORE_URL: `sqlite:${file}` });

      expect(await run(['export', path('animals.ndjson')], test.io, [changing]), test.err).to.equal(
        0,
      );

      await service.close();
      const lines = fileText('animals.ndjson').trimEnd().split('\n');

      expect(lines).to.deep.equal(added.map((pet) => stringifyJson(pet)));
    });

    it('never replaces a file, and leaves none when it fails', async () => {
      await store.transfer.writePets(HARD);
      const list: PetRepository['list'] = (range, call) =>
        range.after === undefined
          ? store.pets.list(range, call)
          : Promise.reject(new Error('gone'));

      expect(await shell(`export ${path('a.csv')}`, { list })).to.include({
        code: 1,
        out: '',
        err: 'gone\n',
      });
      expect(readdirSync(folder)).to.deep.equal([]);

      const { out } = await shell(`export ${path('a.csv')} --json`);
      expect(JSON.parse(out)).to.deep.equal({
        from: 'shelf 1',
        to: path('a.csv'),
        exported: HARD.length,
      });

      const before = fileText('a.csv');
      expect(await shell(`export ${path('a.csv')}`)).to.include({ code: 2 });
      expect(fileText('a.csv')).to.equal(before);
    });

    it('never replaces a file that appears meanwhile, a link or a device', async () => {
      await store.transfer.writePets(HARD);
      await expectOtherFileKept();

      symlinkSync(path('nowhere'), path('link.csv'));
      for (const file of [path('link.csv'), '/dev/null'])
        expect(await shell(`export ${file} --format csv`)).to.include({
          code: 2,
          err: `${file} exists: choose another name, or - for standard output.\n`,
        });

      expect(readdirSync(folder)).to.have.members(['a.csv', 'link.csv']);

      const { err: why } = await shell(`export ${path('none/a.csv')}`);
      expect(why).to.include(`${path('none/a.csv')} cannot be written. ENOENT: `);
    });

    describe('where hard links are not supported', () => {
      beforeEach(async () => {
        mock.method(fs, 'linkSync', notSupported);
        syncBuiltinESMExports();
        await store.transfer.writePets(HARD);
      });
      afterEach(() => {
        mock.restoreAll();
        syncBuiltinESMExports();
      });

      it('never replaces a file that appears meanwhile', async () => {
        await expectOtherFileKept();

        expect(readdirSync(folder)).to.deep.equal(['a.csv']);
      });

      it('leaves no file that could not be named', async () => {
        mock.method(fs, 'renameSync', notSupported);
        syncBuiltinESMExports();

        const { code, err } = await shell(`export ${path('a.csv')}`);

        expect({ code, err }).to.deep.equal({
          code: 1,
          err: `${path('a.csv')} cannot be written. EPERM: not supported\n`,
        });
        expect(readdirSync(folder)).to.deep.equal([]);
      });
    });

    it('writes to standard output until its reader closes the pipe', async () => {
      await store.transfer.writePets(HARD);
      expect((await shell('export -')).err).to.match(/^- has no ending of a format/);
      expect((await shell('export - --format csv')).err).to.match(/^Exported animals: 17\n/);

      const io = shelfIo();
      io.fullDisk = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
      const closed = await shell('export - --format csv', { list: fail }, io);

      expect(closed).to.deep.equal({ code: 0, out: '', err: '' });
    });

    it('writes through no link that waits under the name of a part', async () => {
      writeFileSync(path('mine'), 'mine');
      symlinkSync(path('mine'), path('a.csv.part'));
      await shell(`export ${path('a.csv')}`);

      expect(fileText('mine')).to.equal('mine');
      expect(readdirSync(folder)).to.have.members(['a.csv', 'a.csv.part', 'mine']);
    });

    it('stops at a signal, and leaves no file', async () => {
      await store.transfer.writePets(HARD);
      const io = shelfIo();
      const list: PetRepository['list'] = async (range) => {
        io.emit('SIGTERM', 'SIGTERM');
        return store.pets.list(range);
      };

      expect(await shell(`export ${path('a.csv')}`, { list }, io)).to.include({
        code: 143,
        err: 'Interrupted by SIGTERM.\n',
      });
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    for (const count of [0, 1000, 1001])
      it(`writes ${count} animals, read in pages of 1,000, and counts them`, async () => {
        const ids = Array.from({ length: count }, (_, index) => BigInt(index + 1));
        await store.transfer.writePets(ids.map((id) => petWithId(id, FULL_PET)));
        const { out } = await shell(`export ${path('a.csv')}`);

        expect(out).to.include(`Exported animals: ${count}\n`);

        const written = fileText('a.csv').split('\n').slice(1, -1);
        expect(written.map((line) => line.split(',')[0])).to.deep.equal(ids.map(String));
      });

    it('writes CSV that others read', async () => {
      await store.transfer.writePets([...HARD.slice(1, 3), ...HARD.slice(6, 7)]);
      await shell(`export ${path('a.csv')}`);
      const [, ...lines] = fileText('a.csv').split('\n');

      for (const [index, start] of [
        `4,"a,b",${INT64_MAX},pending`,
        `7,"say ""hi""",${INT64_MIN},pending`,
        `19,"end\r",${INT64_MIN},pending`,
      ].entries())
        expect(lines[index]).to.match(new RegExp(`^${start}`));
    });
  });
});
