import { expect } from 'chai';
import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SUPPORTED_NODE } from '../../src/bootstrap/service/node-version.js';
import { runLine } from '../bootstrap/test-io.js';
import { Child, MAIN, PACKAGE, cleanUp, shellLine, temporaryFolder } from './running-service.js';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Starts the service with an environment in which systemd names one of its outputs as the journal. */
const startedBySystemd = (folder: string, descriptor: 1 | 2): Child =>
  shellLine(
    folder,
    `exec 3>&${descriptor}; JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/3) exec "$NODE" "$MAIN" serve`,
    { PORT: '0', STORE_URL: 'sqlite:animals.db' },
  );

describe('The program', () => {
  afterEach(cleanUp);

  (hasCurl ? it : it.skip)(
    'prints a first key and a curl line that works when pasted, through npm start',
    async () => {
      const folder = temporaryFolder();
      const npm = new Child('npm', ['start', '--silent'], PACKAGE, {
        PORT: '0',
        STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
      });
      const url = await npm.ready();
      const [key = ''] = /ast_live_\w+/.exec(npm.out) ?? [];
      const [line = ''] = /(?<=^ *)curl .*$/m.exec(npm.out) ?? [];
      const { stdout } = await run('sh', ['-c', `${line} --silent`]);
      expect(stdout, npm.out).to.equal(
        '{"id":1,"name":"Bella","categoryId":7,"status":"available"}',
      );
      const { code, signal, out, err } = await npm.stop('SIGTERM');
      expect({ code, signal }, err).to.deep.equal({ code: 0, signal: null });
      expect(out)
        .to.include(url)
        .and.not.match(/ready at|"level"/);
      expect(err)
        .to.match(/stopping on SIGTERM.*"stopped"/s)
        .and.not.include(key);
    },
  );

  it('ends with 2 when a module of ADAPTERS fails that would keep the process', async () => {
    const folder = temporaryFolder();
    const fails = "export const adapter = { id: 1, load() { throw new Error('no licence'); } };";
    await writeFile(join(folder, 'own.mjs'), `setInterval(() => {}, 1000); ${fails}`);
    const settings = { ADAPTERS: './own.mjs', STORE_URL: `sqlite:${join(folder, 'animals.db')}` };
    const { code, err } = await new Child(process.execPath, [MAIN, 'serve'], folder, settings)
      .ended;

    expect([code, err]).to.deep.equal([
      2,
      'Invalid settings:\n  ADAPTERS: ./own.mjs cannot be loaded: no licence\n',
    ]);
    expect(await readdir(folder)).to.deep.equal(['own.mjs']);
  });

  const linux = process.platform === 'linux' ? it : it.skip;
  linux(
    'issues no first key into the journal of systemd, and names the line that issues one',
    async () => {
      const folder = temporaryFolder();
      const refused = await startedBySystemd(folder, 1).ended;
      expect(refused.code).to.be.oneOf([1, 2]);
      expect([refused.out, refused.err]).to.deep.equal([
        '',
        'There is no API key, and a first one would stay in the journal: issue one with the command keys issue and the same STORE_URL, or set API_KEYS.\n',
      ]);
      expect(
        (await runLine('keys list', { STORE_URL: `sqlite:${join(folder, 'animals.db')}` })).out,
      ).to.not.match(/\w{8} /);
      // Another output is redirected, as in `npm start > file` of a session that systemd started.
      const child = startedBySystemd(folder, 2);
      await child.ready();
      expect(child.out).to.match(/ast_live_/);
    },
  );

  // Root may write anything, so it becomes nobody, who may not even read a clone in a private folder.
  const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const isPrivate =
    spawnSync(process.execPath, [MAIN, '--version'], { cwd: '/', ...as }).status !== 0;
  const reason = isPrivate ? ' (pending: only root may read this clone)' : '';
  (isPrivate ? it.skip : it)(
    `names the user and the path where it may not write${reason}`,
    async () => {
      const folder = temporaryFolder();
      const url = `sqlite:${join(folder, 'animals.db')}`;
      await runLine('keys issue --name till', { STORE_URL: url });
      await chmod(join(folder, 'animals.db'), 0o666);
      await chmod(folder, 0o755);
      const user = as.uid ?? process.getuid?.();
      for (const [command, store] of [
        [`backup ${folder}/none/b.db`, url],
        ['keys issue --name till', `sqlite:${folder}/none/animals.db`],
      ] as const) {
        await mkdir(join(folder, 'none'), { recursive: true, mode: 0o500 });
        if (as.uid === undefined) await chmod(join(folder, 'none'), 0o500);
        const options = { cwd: '/', env: { STORE_URL: store }, ...as };
        const { stderr } = await run(
          process.execPath,
          [MAIN, ...command.split(' ')],
          options,
        ).catch((error) => error);
        expect(stderr, command).to.include(`${folder}/none/`).and.include(`, as the user ${user}`);
      }
    },
  );

  (isPrivate ? it.skip : it)(
    `lists keys without write access to the file of the store${reason}`,
    async () => {
      const folder = temporaryFolder();
      await runLine('keys issue --name till', {
        STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
      });
      await chmod(join(folder, 'animals.db'), 0o444);
      await chmod(folder, 0o777);
      const options = { cwd: folder, env: { STORE_URL: 'sqlite:animals.db' }, ...as };
      const { stdout } = await run(process.execPath, [MAIN, 'keys', 'list'], options);
      expect(stdout).to.match(/^\w{8} +active .* till$/m);
    },
  );

  it('says in one line that Node.js is too old, ends with 2, and does nothing', async () => {
    const args = ['--no-experimental-sqlite', MAIN, '--version'];
    const err = `Node.js ${process.versions.node} is too old for the animal store: use ${SUPPORTED_NODE}.\n`;
    const { ended } = new Child(process.execPath, args, PACKAGE, {});

    expect(await ended).to.deep.equal({ code: 2, signal: null, out: '', err });
  });
});
