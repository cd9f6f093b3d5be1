import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createContainer } from '../../src/bootstrap/container.js';
import { startService } from '../../src/bootstrap/service.js';
import { readSettings } from '../../src/bootstrap/settings.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const KEY = 'key-of-the-readme-0123456789';

/** The code blocks of a language below a heading. */
function blocks(heading: string, language: string): string[] {
  const section = readme.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  );
}

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

describe('The README', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-readme-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs a program that imports the package by its name, in a folder of its own; resolves to what it prints. */
  async function output(code: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    // Within the package its own name can be imported.
    const file = join(dirname(fileURLToPath(import.meta.url)), `readme-${process.pid}-${Date.now()}.mjs`);
    writeFileSync(file, code);
    try {
      const env = { ...process.env, ...environment };
      const args = ['--disable-warning=ExperimentalWarning', file];
      return (await run(process.execPath, args, { cwd: folder, env })).stdout;
    } finally {
      rmSync(file);
    }
  }

  (hasCurl ? it : it.skip)(
    `tells of a tour that goes as it says${hasCurl ? '' : ' (needs curl)'}`,
    async () => {
      const settings = readSettings({
        PORT: '0',
        STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
        API_KEYS: KEY,
      });
      const service = await startService(await createContainer(settings));
      try {
        const tour = blocks('A tour', 'console').join('');
        const steps = tour.split(/^\$ /m).filter((step) => step.startsWith('curl'));
        expect(steps).to.have.length(8);
        for (const step of steps) {
          const [command = '', ...told] = step.split('\n');
          const line = command.replaceAll('http://127.0.0.1:8080/v1', service.url);
          const { stdout } = await run('sh', ['-c', `${line.replace(/ {5}#.*/, '')} -s`], {
            env: { ...process.env, KEY },
          });
          const printed = stdout.split(/\r?\n/);
          for (const expected of told.filter((text) => text !== '' && text !== '...')) {
            const place = printed.indexOf(expected);
            expect(place, `${expected} in ${stdout}`).to.be.greaterThan(-1);
            printed.splice(0, place + 1);
          }
        }
      } finally {
        await service.stop();
      }
    },
  );

  it('shows how to embed the use cases', async () => {
    const [code = ''] = blocks('Embed it', 'js');
    expect(await output(code)).to.equal(
      [
        '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}',
        '1 undefined',
        "invalid_pet [ { field: 'name', message: 'must not be blank' } ]",
        'true true',
        '',
      ].join('\n'),
    );
  });

  it('shows how to call the service from another program', async () => {
    const [code = ''] = blocks('Call it from another program', 'js');
    const settings = readSettings({ PORT: '0', STORE_URL: 'memory:', API_KEYS: KEY, LOG_LEVEL: 'silent' });
    const service = await startService(await createContainer(settings));
    try {
      expect(await output(code, { BASE_URL: service.url, API_KEY: KEY })).to.equal(
        [
          '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}',
          'no animal 4711',
          'invalid_api_key 401',
          '',
        ].join('\n'),
      );
    } finally {
      await service.stop();
    }
  });

  it('shows how to serve by Fetch', async () => {
    const [code = ''] = blocks('Serve it by Fetch', 'js');
    expect(await output(code)).to.equal(
      '201 /shop/v1/pets/1 {"id":1,"name":"Bella","categoryId":1,"status":"available"}\n',
    );
  });

  it('shows how to bring a store, and how to hold it to its promises', async () => {
    const [adapter = '', contract = ''] = blocks('Bring your own store', 'js');
    const use = `
      import { createContainer, readSettings, startService } from 'animal-store/bootstrap';
      const settings = readSettings({ PORT: '0', STORE_URL: 'shelf:anything', API_KEYS: '${KEY}' });
      const service = await startService(await createContainer(settings, [adapter]));
      const headers = { Authorization: 'Bearer ${KEY}' };
      console.log((await fetch(service.url + '/pets', { headers })).status);
      await service.stop();`;
    expect(await output(adapter + use)).to.equal('200\n');
    expect(await output(contract)).to.equal('true\n');
  });
});
