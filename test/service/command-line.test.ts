import { expect } from 'chai';
import { FakeProcess, runLine } from './fake-process.js';
import { STUCK, Shelf } from './shelf.js';

/** A store whose animals cannot be read. */
function failing(error: Error): Shelf {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return new Shelf({ pets: { add: fail, addOnce: fail, findById: fail, list: fail } });
}

describe('The command line', () => {
  const commands = [
    '',
    'serve',
    'keys',
    'keys issue',
    'keys list',
    'keys revoke',
    'import',
    'export',
    'backup',
    'restore',
    'copy',
  ];
  for (const command of commands)
    it(`explains "animal-store ${command}" by --help`, async () => {
      const { code, out, err } = await runLine(`${command} --help`.trimStart());

      expect(out).to.match(new RegExp(`^Usage: animal-store ${command}`));
      if (command !== '') expect(out).to.match(/\nExample:\n {2}.*animal-store /);
      expect(err).to.equal('');
      expect(code).to.equal(0);
    });

  it('without arguments shows the help, which has every setting with its default', async () => {
    const fake = new FakeProcess();
    expect(await fake.run([])).to.equal(0);
    expect(fake.out).to.match(/^Usage/);

    const { out } = await runLine('serve --help');
    expect(out).to.match(/^ {2}PORT +.*\(default: 8080\)$/m);
    expect(out).to.match(/^ {2}ADMIN_PORT +.*\(such as 9090\)$/m);
    expect(out).to.include('NAME_FILE');
  });

  const wrong: ReadonlyArray<readonly [line: string, says: RegExp]> = [
    ['serv', /unknown command[^]*Did you mean serve\?/],
    ['import', /missing required argument 'FILE'/],
    ['import a.csv b.csv', /too many arguments/],
    ['serve --portt 1', /Did you mean --port\?/],
    ['serve --port=', /--port.* must not be empty/],
    ['import a.csv --format xml', /csv.*ndjson/],
    ['export animals.txt', /must end in .csv or .ndjson/],
  ];
  for (const [line, says] of wrong)
    it(`refuses "animal-store ${line}" with exit code 2`, async () => {
      const { code, out, err } = await runLine(line);

      expect(err).to.match(says);
      expect(out).to.equal('');
      expect(code).to.equal(2);
    });

  it('prefers options of serve to settings and their files', async () => {
    const line = 'serve --host a.example --port 70000';
    const { err } = await runLine(line, { HOST: ' ', PORT_FILE: '/none' });

    expect(err).to.match(/^Invalid settings:\n {2}PORT must be an integer.*\n$/);
  });

  it('quotes no argument: it may be a key', async () => {
    const key = 'ast_live_00000000_secret';
    const lines = [
      key,
      `serve ${key}`,
      `serve --${key}`,
      `import ${key}`,
      `import ${key} --format csv`,
      `keys revoke a ${key}`,
      `keys issue --name n --expires ${key}`,
      `serve --port ${key}`,
    ];
    for (const line of lines) {
      const { code, err } = await runLine(line, { STORE_URL: 'memory:' });
      expect(err, line).not.to.include('secret');
      expect(code, line).to.equal(2);
    }
  });

  it('checks all settings for every command, and opens no store while one is wrong', async () => {
    const shelf = new Shelf();
    const env = { STORE_URL: 'shelf:1', PORT: 'x' };
    for (const line of [
      'serve',
      'keys list',
      'export - --format csv',
      'backup b',
      'copy --from a --to b',
    ]) {
      const { code, err } = await runLine(line, env, { modules: [shelf.module] });
      expect(err, line).to.match(/Invalid settings:\n {2}PORT must be an integer/);
      expect(code).to.equal(2);
    }
    expect(shelf.modes).to.deep.equal([]);
  });

  it('exits with 1 and its causes in one line, and shows a stack only for a bug', async () => {
    const causes = new Error('Not now.', { cause: new Error('refused\nby host') });
    const { code, err } = await failing(causes).run('export - --format csv');
    expect(err).to.equal('Not now. refused by host\n');
    expect(code).to.equal(1);

    const fault = await failing(new TypeError('oops')).run('export - --format csv');
    expect(fault.err).to.match(/TypeError: oops\n +at /);
  });

  it('exits with 130 at once when a second signal comes a second after the first', async () => {
    const fake = new FakeProcess({ STORE_URL: 'stuck:' });
    let now = 0;
    const { now: original } = performance;
    performance.now = () => now;
    try {
      void fake.run(['keys', 'list'], [STUCK]);
      for (const time of [0, 999, 1000]) {
        now = time;
        fake.emit('SIGINT', 'SIGINT');
        expect(fake.exits).to.have.lengthOf(time < 1000 ? 0 : 1);
      }
    } finally {
      performance.now = original;
    }
    expect(fake.exits).to.deep.equal([130]);
  });

  it('exits with 1 when its result cannot be written', async () => {
    const fake = new FakeProcess({ STORE_URL: 'shelf:1' });
    fake.stdout.write = ((_text: string, done: (error: Error) => void) =>
      done(new Error('ENOSPC: no space left on device, write'))) as never;

    expect(await fake.run(['keys', 'issue', '--name', 'n'], [new Shelf().module])).to.equal(1);
    expect(fake.err).to.equal('ENOSPC: no space left on device, write\n');
  });
});
