import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SETTINGS } from '../../src/bootstrap/settings.js';
import { Child, MAIN, cleanUp, program } from '../service/running-service.js';
import { codeAt, read } from './code-blocks.js';

const linesOf = (code: string): string[] => code.trimEnd().split('\n');

describe('The README', function () {
  this.timeout(60_000);

  let folder: string;
  let key: string;
  let url: string;
  before(async () => {
    // Within the package its own name can be imported.
    folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'readme-'));
    const service = program(folder, ['serve'], { PORT: '0' });
    url = await service.ready();
    const [notice = '', , shown = ''] = linesOf(codeAt('README.md > Run it > 2'));
    expect(service.out).to.include(notice);
    [, key = ''] = /^ {2}(ast_live_\w+)$/m.exec(service.out) ?? [];
    expect(shown)
      .to.match(/^ {2}ast_live_\w+$/)
      .and.to.have.length(key.length + 2);
  });
  after(async () => {
    await cleanUp();
    rmSync(folder, { recursive: true });
  });

  /** Does what a line for a shell says, with the program that was built. */
  async function shell(line: string): Promise<string> {
    const command = line
      .replaceAll('npm run -s cli --', '"$NODE" "$MAIN"')
      .replaceAll('http://127.0.0.1:8080/v1', url);
    const environment = { NODE: process.execPath, NODE_NO_WARNINGS: '1', MAIN, KEY: key };
    const { code, out, err } = await new Child('sh', ['-c', command], folder, environment).ended;
    expect(code, `${line}\n${err}`).to.equal(0);
    return out;
  }

  it('shows requests and what is answered', async function () {
    if ((await new Child('curl', ['--version'], folder, {}).ended.catch(() => undefined)) === undefined) {
      this.test?.skip(); // no curl here
    }
    const steps = codeAt('README.md > Use it > 1').split(/^\$ /m);
    const requests = steps.filter((step) => step.startsWith('curl'));
    expect(requests).to.have.length(3);
    for (const request of requests) {
      const [command = '', ...told] = linesOf(request);
      const printed = (await shell(`${command} -s`)).split(/\r?\n/);
      for (const line of told.filter((text) => text !== '' && text !== '...')) {
        expect(printed, `${command}: in this order`).to.include(line);
        printed.splice(0, printed.indexOf(line) + 1);
      }
    }
  });

  it('shows how to manage keys', async () => {
    const [issue = '', list = '', rotate = '', revoke = ''] = linesOf(codeAt('README.md > Use it > 2'));
    const issued = await shell(issue);
    expect(issued).to.match(/^ast_live_\w+\n$/);
    const id = issued.split('_')[2] ?? '';
    expect(await shell(list))
      .to.include(id)
      .and.to.include('shop-window')
      .and.to.include('pets:read');
    expect(await shell(rotate.replace('4fZk02Qa', id))).to.match(/^ast_live_\w+\n$/);
    expect(await shell(revoke.replace('4fZk02Qa', id))).to.equal('');
  });

  it('shows how to move to another store', async () => {
    const copy = codeAt('README.md > Use it > 3').replace(/mongodb:\S+/, 'sqlite:copy.db');
    await shell(copy);
    const listed = await shell('STORE_URL=sqlite:copy.db npm run -s cli -- keys list');
    expect(listed).to.include('first start');
  });

  it('shows how to embed the use cases', async () => {
    writeFileSync(join(folder, 'embed.mjs'), codeAt('README.md > Embed it > 1'));
    expect(await shell('"$NODE" embed.mjs')).to.equal(
      '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}\n',
    );
  });

  it('leads to a page that shows how to call the service from another program', async () => {
    writeFileSync(join(folder, 'call.mjs'), codeAt('docs/embedding.md > From another program > 1'));
    const printed = await shell(`BASE_URL=${url} API_KEY=${key} "$NODE" call.mjs`);
    expect(printed)
      .to.match(/^\{"id":\d+,"name":"Bella".*\}\n/)
      .and.match(/\nno animal 4711\n$/);
  });

  it('names every setting, and no other, with its default', () => {
    const rows = [...read('README.md').matchAll(/^\| (`[A-Z][^|]*)\|[^|]*\|([^|]*)\|$/gm)];
    const named = rows.flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named).to.have.members(SETTINGS.map(({ name }) => name));
    for (const [, names = '', defaults = ''] of rows) {
      const told = [...defaults.matchAll(/`([^`]+)`/g)].map(([, value]) => value);
      const settings = SETTINGS.filter(({ name }) => names.includes(`\`${name}\``));
      const real = settings.flatMap(({ default: value }) => (value && value !== 'auto' ? [value] : []));
      if (real.length > 0) expect(told, names).to.deep.equal(real);
    }
  });
});
