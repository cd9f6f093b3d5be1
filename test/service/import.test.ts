import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { PET_STATUSES, type Pet } from '../../src/index.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { FakeProcess, runLine } from './fake-process.js';
import { Shelf } from './shelf.js';

const REX = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' };
const BELLA = { id: 2n, name: 'Bella', categoryId: -8n, status: 'available' };

describe('import', () => {
  let shelf: Shelf;
  let folder: string;

  beforeEach(() => {
    shelf = new Shelf();
    folder = temporaryFolder();
  });
  afterEach(removeFolders);

  const stored = (): Promise<readonly Pet[]> => shelf.data.pets.list({ limit: 1000 });

  /** Imports a file of this content. */
  function importText(content: string | Buffer, options = '', name = 'animals.csv') {
    writeFileSync(`${folder}/${name}`, content);
    return shelf.run(`import ${folder}/${name}${options && ` ${options}`}`);
  }

  const accepted: Readonly<Record<string, string>> = {
    'commas and LF': 'name,categoryId,status\nRex,7,sold\nBella,-8,\n',
    'the semicolons, BOM and CRLF of Excel':
      '\ufeffname;categoryId;status\r\nRex;7;sold\r\nBella;-8;\r\n',
    'tabs and CR': 'name\tcategoryId\tstatus\rRex\t7\tsold\rBella\t-8\t\r',
    'mixed ends of lines': 'name,categoryId,status\r\nRex,7,sold\nBella,-8,\r',
    'quotes around every cell, as pandas and duckdb write them on request':
      '"name","categoryId","status"\n"Rex","7","sold"\n"Bella","-8",""\n',
    'a last line without an end, as Google Sheets writes it':
      'name,categoryId,status\r\nRex,7,sold\r\nBella,-8,available',
    'names of columns in any spelling, blanks around values, and empty lines':
      'STATUS, Category_ID ,name\n\nsold , 7,Rex\n,,\n, -8 ,Bella\n',
  };
  for (const [what, content] of Object.entries(accepted))
    it(`reads ${what}`, async () => {
      const { code, out } = await importText(content);

      expect(out).to.equal('Animals added: 2, changed: 0, unchanged: 0, imported before: 0.\n');
      expect(code).to.equal(0);
      expect(await stored()).to.have.deep.members([REX, BELLA]);
    });

  it('reads NDJSON, also from standard input, with exact integers', async () => {
    const lines =
      '{"name":"Rex","categoryId":9223372036854775807,"status":null}\r\n\n' +
      '{"Category Id":7.0,"name":"B\\"b"}';

    const { code, err } = await shelf.run('import - --format ndjson', lines);

    expect(err).to.equal('');
    expect(code).to.equal(0);
    expect((await stored()).map(({ name, categoryId }) => [name, categoryId])).to.have.deep.members(
      [
        ['Rex', 2n ** 63n - 1n],
        ['B"b', 7n],
      ],
    );
  });

  it('keeps a name as it is, with line ends, quotes and blanks', async () => {
    await importText('name,categoryId\n" a\r\n""b"" ;\u2028",7\n');

    expect((await stored())[0]?.name).to.equal(' a\r\n"b" ;\u2028');
  });

  const refused: ReadonlyArray<
    readonly [what: string, content: string | Buffer, says: RegExp, name?: string]
  > = [
    ['a file cut off between cells', 'name,categoryId,status\nRex,7', /may be cut off/],
    ['a file cut off in the number of its last column', 'name,categoryId\nRex,7', /may be cut off/],
    ['a file cut off before its last cell', 'name,categoryId,status\nRex,7,', /may be cut off/],
    ['too few cells', 'name,categoryId,status\nRex,7\n', /^Line 2: .* 2 cells, not 3/],
    ['too many cells', 'name,categoryId\nRex,7,sold\n', /^Line 2: .* 3 cells, not 2/],
    ['UTF-16', Buffer.from('\ufeffname,categoryId\nRex,7\n', 'utf16le'), /save it as CSV UTF-8/],
    ['UTF-16 without a mark', Buffer.from('name\nRex\n', 'utf16le'), /save it as CSV UTF-8/],
    ['Latin-1', Buffer.from('name,categoryId\nÜ,7\n', 'latin1'), /save it as CSV UTF-8/],
    ['a packed file', gzipSync('name,categoryId\nRex,7\n'), /save it as CSV UTF-8/],
    ['a workbook', 'PK', /Save a workbook as CSV UTF-8/, 'animals.xlsx'],
    ['unknown columns', 'name,categoryId,Sttus,Preis\nRex,7,sold,1\n', /"Sttus", "Preis".*status/],
    ['two columns of one name', 'name,Name,categoryId\na,b,7\n', /name is there twice/],
    [
      'a quote that does not end',
      'name,categoryId\n"Rex,7\n',
      /not valid CSV: Quote Not Closed.*line 2/,
    ],
    [
      'a fault below a cell that has \\r\\n in it',
      'name,categoryId\n"a\r\nb",7\nc,x\n',
      /^Line 4: /,
    ],
    [
      'a fault below a blank record that has \\r\\n in it',
      'name,categoryId\n"\r\n",\nc,x\n',
      /^Line 4: /,
    ],
    ['a file without animals', 'name,categoryId\n', /no animals/],
    [
      'numbers that are not int64',
      'name,categoryId\na,007\nb,7.0\nc,1e3\n',
      /^Line 2: [^]*^Line 3: [^]*^Line 4: /m,
    ],
    ['NDJSON cut off', '{"name":"Rex","categoryId":7}\n{"na', /^Line 2: .*JSON/, 'a.ndjson'],
    ['unknown members', '{"name":"a","categoryId":7,"Sttus":1}', /^Line 1: .*Sttus/, 'a.ndjson'],
    ['an array', '[{"name":"a","categoryId":7}]', /^Line 1: .*not a JSON object/, 'a.ndjson'],
  ];
  for (const [what, content, says, name] of refused)
    it(`refuses ${what}, and stores nothing`, async () => {
      const { code, out, err } = await importText(content, '', name);

      expect(err).to.match(says);
      expect(code).to.equal(2);
      expect(out).to.equal('');
      expect(shelf.modes).to.deep.equal([]);
    });

  it('refuses a file that is cut off anywhere but at the end of a line', async () => {
    const whole = 'name,categoryId,status\nRex,71,sold\n"Bel""la",-82,pending\n';
    const firstLines = whole.indexOf('"');
    for (let length = 1; length < whole.length; length += 1) {
      const part = whole.slice(0, length);
      const { code } = await importText(part, '--dry-run');
      // A status at the end of a line is as good as the end of the line.
      const isWhole = PET_STATUSES.some((status) => part.endsWith(status));
      expect(code === 0, part).to.equal(isWhole || length === firstLines);
    }
  });

  it('ignores other columns when told to, and names them', async () => {
    const content = 'name,categoryId,Sttus,\nRex,7,sold,\n';
    const { code, err } = await importText(content, '--ignore-others');

    expect(err).to.equal('Ignored: "Sttus", "".\n');
    expect(code).to.equal(0);
    expect(await stored()).to.deep.equal([{ ...REX, status: 'available' }]);
  });

  it('shows the first twenty faults with the lines where they begin', async () => {
    const rows = Array.from({ length: 30 }, (_, row) => `"a\nb${row}",x\n`);
    const { code, err } = await importText(`name,categoryId\n${rows.join('')}`);

    const lines = err.split('\n');
    expect(lines[0]).to.match(/^Line 2: .*categoryId must be an integer/);
    expect(lines[19]).to.match(/^Line 40: /);
    expect(lines.slice(20)).to.deep.equal([
      'Lines that are not valid: 30. Nothing was stored.',
      '',
    ]);
    expect(code).to.equal(2);
  });

  it('adds nothing when it runs again, and changes the animals of an edited export', async () => {
    const content = 'name,categoryId,status\nRex,7,sold\nBella,-8,\n';
    await importText(content);

    expect((await importText(content)).out).to.include(
      'added: 0, changed: 0, unchanged: 0, imported before: 2',
    );
    await shelf.run(`export ${folder}/export.csv`);
    const edited = readFileSync(`${folder}/export.csv`, 'utf8').replace('Bella,-8', 'Bello,-8');
    expect((await importText(edited)).out).to.include('added: 0, changed: 1');
    expect(await stored()).to.deep.equal([REX, { ...BELLA, name: 'Bello' }]);
    expect(shelf.modes.at(-1), 'how changes alone open the store').to.equal('existing');
  });

  it('names the line of an id that no animal has, and stores nothing', async () => {
    const { code, err } = await importText('id,name,categoryId\n,Rex,7\n5,Bella,8\n');

    expect(err).to.match(/^Line 3: No animal has the id 5: .*copy and restore/);
    expect(code).to.equal(2);
    expect(await stored()).to.deep.equal([]);
  });

  it('stores nothing in a dry run, and creates no store', async () => {
    const adding = await importText('name,categoryId\nRex,7\n', '--dry-run');
    expect(adding.out).to.equal('Animals to add: 1, to change: 0. Nothing was stored.\n');
    expect(shelf.modes).to.deep.equal([]);

    await importText('name,categoryId\nRex,7\n');
    const changing = await importText('id,name\n1,Bella\n', '--dry-run');
    expect(changing.out).to.equal('Animals to add: 0, to change: 1. Nothing was stored.\n');
    expect((await stored())[0]?.name).to.equal('Rex');
    expect(shelf.modes).to.deep.equal(['create', 'read']);
    expect(shelf.closed).to.equal(2);
  });

  it('escapes control characters in what it prints', async () => {
    const { err } = await importText('name,\u009b2J\u202e,categoryId\nRex,,7\n');

    expect(err).to.match(/^[^\p{Cc}\p{Bidi_Control}]+\n$/u);
  });

  it('stops waiting for standard input when it is interrupted', async () => {
    const fake = Object.assign(new FakeProcess(), { stdin: new PassThrough() });
    const code = fake.run(['import', '-', '--format', 'csv']);
    fake.emit('SIGINT', 'SIGINT');
    expect(await code).to.equal(130);
    expect(fake.err).to.include('Interrupted by SIGINT.');
  });

  it('says why a file cannot be read, without its name', async () => {
    for (const [file, reason] of [
      ['ast_live_secret.csv', 'ENOENT: no such file or directory'],
      [`${folder} --format csv`, 'EISDIR: illegal operation on a directory'],
    ])
      expect((await shelf.run(`import ${file}`)).err).to.equal(
        `FILE cannot be read (${reason}).\n`,
      );
  });
});

describe('export', () => {
  let shelf: Shelf;
  let folder: string;

  beforeEach(async () => {
    shelf = new Shelf();
    folder = temporaryFolder();
    await shelf.data.pets.add({ name: 'a "b",\r\n', categoryId: -(2n ** 63n), status: 'sold' });
  });
  afterEach(removeFolders);

  const expected = {
    csv: 'id,name,categoryId,status\n1,"a ""b"",\r\n",-9223372036854775808,sold\n',
    ndjson:
      '{"id":1,"name":"a \\"b\\",\\r\\n","categoryId":-9223372036854775808,"status":"sold"}\n',
  };
  for (const [format, text] of Object.entries(expected))
    it(`writes every animal as ${format}, to a file for its user alone or to standard output`, async () => {
      const file = `${folder}/animals.${format}`;
      const { code, err } = await shelf.run(`export ${file}`);

      expect(err).to.equal('Exported animals: 1\n');
      expect(code).to.equal(0);
      expect(readFileSync(file, 'utf8')).to.equal(text);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      expect((await shelf.run(`export - --format ${format}`)).out).to.equal(text);
      expect(shelf.modes).to.deep.equal(['read', 'read']);
    });

  it('never replaces a file', async () => {
    writeFileSync(`${folder}/animals.csv`, 'mine');
    const { code, err } = await shelf.run(`export ${folder}/animals.csv`);

    expect(err).to.equal('FILE cannot be created (EEXIST: file already exists).\n');
    expect(code).to.equal(2);
    expect(readFileSync(`${folder}/animals.csv`, 'utf8')).to.equal('mine');
  });

  it('leaves no file when it fails or is interrupted', async () => {
    const failing = new Shelf({
      pets: { ...shelf.data.pets, list: () => Promise.reject(new Error('gone')) },
    });
    const { code, err } = await failing.run(`export ${folder}/animals.csv`);
    expect(err).to.equal('gone\n');
    expect(code).to.equal(1);

    const fake = new FakeProcess({ STORE_URL: 'shelf:1' });
    const hanging = new Shelf({
      pets: {
        ...shelf.data.pets,
        list: (_query, { signal } = {}) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason as Error));
            fake.emit('SIGINT', 'SIGINT');
          }),
      },
    });
    const interrupted = await fake.run(['export', `${folder}/animals.csv`], [hanging.module]);
    expect(fake.err).to.include('Interrupted by SIGINT.');
    expect(interrupted).to.equal(130);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(hanging.closed).to.equal(1);
  });
});

describe('Commands on a store that is in memory or does not exist', () => {
  afterEach(removeFolders);

  it('exit with 2 and create no store', async () => {
    const missing = `${temporaryFolder()}/none/animals.db`;
    for (const line of ['keys list', 'keys revoke 1', 'export - --format csv']) {
      const inMemory = await runLine(line, { STORE_URL: 'memory:' });
      expect(inMemory.err).to.match(/store in memory belongs to its service/);
      expect(inMemory.code).to.equal(2);
      expect((await runLine(line, { STORE_URL: `sqlite:${missing}` })).code).to.equal(2);
    }
    expect(existsSync(missing)).to.equal(false);
  });
});
