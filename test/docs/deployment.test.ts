import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS, readSettings } from '../../src/bootstrap/service/settings.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { read } from './code-blocks.js';

type Settings = Readonly<Record<string, string>>;

const UNIT = 'docs/operations/animal-store.service';

/** The settings in the lines that begin with `pattern`, such as `ENV NAME=value NAME=value`. */
function settingsIn(file: string, pattern: string): Settings {
  const lines = read(file).match(new RegExp(`(?<=^${pattern}).*$`, 'gm')) ?? [];
  const pairs = lines.join(' ').matchAll(/(\w+)=(\S*)/g);
  return Object.fromEntries(Array.from(pairs, ([, ...pair]) => pair));
}

/** The settings of the service in a compose file, with a key in place of the one in `.env`. */
function composed(file: string): Settings {
  const { services } = parse(read(file), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly environment: Settings }>>;
  };
  return { ...services['animal-store']?.environment, API_KEYS: 'a-key-of-your-own' };
}

interface Container {
  readonly env: ReadonlyArray<{ readonly name: string; readonly value: string }>;
}

/** The settings of the first container in a manifest, but for those in its secret. */
function deployed(file: string): Settings {
  const [deployment] = parseAllDocuments(read(file)).map((document) => document.toJS());
  const [container] = deployment.spec.template.spec.containers as readonly Container[];
  return Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
}

describe('Files for deployment:', () => {
  let folder: string;
  before(() => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'keys'), 'a-key-of-your-own\n');
  });
  after(removeFolders);

  const files: Readonly<Record<string, () => Settings>> = {
    Dockerfile: () => settingsIn('Dockerfile', 'ENV (?=HOST)'),
    [UNIT]: () => settingsIn(UNIT, 'Environment='),
    'compose.yaml': () => composed('compose.yaml'),
    'docs/operations/compose-mongodb.yaml': () => composed('docs/operations/compose-mongodb.yaml'),
    'docs/operations/kubernetes.yaml': () => deployed('docs/operations/kubernetes.yaml'),
  };
  for (const [file, settingsOf] of Object.entries(files)) {
    it(`${file} has only settings that the service knows and accepts`, () => {
      const settings = settingsOf();
      const known = SETTINGS.flatMap(({ name }) => [name, `${name}_FILE`]);
      expect(Object.keys(settings)).to.have.length.above(0);
      expect(known).to.include.members(Object.keys(settings));
      const keys = settings['API_KEYS_FILE'] && { API_KEYS_FILE: join(folder, 'keys') };
      readSettings({ ...settings, ...keys });
    });
  }

  const systemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  const pending = systemd ? '' : ' (pending: no systemd-analyze here)';
  const title = `animal-store.service is a unit that systemd accepts${pending}`;
  (systemd ? it : it.skip)(title, async () => {
    const file = join(folder, 'animal-store.service');
    writeFileSync(file, read(UNIT).replace('/usr/bin/node', process.execPath));
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]);
    expect(stderr.split('\n').filter((line) => line.includes('animal-store'))).to.deep.equal([]);
  });
});
