import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../src/bootstrap/service/node-version.js';
import { Serving, runLine } from '../bootstrap/test-io.js';
import { cleanUp, shellLine, temporaryFolder } from '../service/running-service.js';
import { ROOT, capturesIn, codeAt, read } from './code-blocks.js';
import { PICTURE, pictured } from './picture.js';

const FIGURES = /\d(?:[\d,]*\d)?/g;

const linesOf = (code: string): string[] => code.trimEnd().split('\n');

describe('The README', () => {
  const here = process.cwd();
  let folder: string;
  let key: string;
  let url: string;
  before(async () => {
    // Within the package its own name can be imported.
    folder = temporaryFolder(import.meta.dirname);
    process.chdir(folder);
    const service = new Serving({});
    url = await service.ready();
    [key = ''] = capturesIn(service.io.out, /(ast_live_\w+)$/gm);
    expect(key).to.not.equal('');
  });
  after(() => {
    process.chdir(here);
    return cleanUp();
  });

  /** Does what a line for a shell says: a command of the animal store in this process. */
  async function shell(line: string): Promise<string> {
    const [words] = capturesIn(line, /^animal-store (.*?)(?: +#.*)?\n?$/g);
    const command = line.replaceAll('http://127.0.0.1:8080/v1', url);
    const { code, out, err } = await (words === undefined
      ? shellLine(folder, command, { KEY: key }).ended
      : runLine(words));
    expect(code, `the exit code of: ${line}\n${err}`).to.equal(0);
    return out;
  }

  it('shows requests and what is answered', async function () {
    if ((await shellLine(folder, 'command -v curl').ended).code !== 0) this.test?.skip(); // no curl here
    const steps = codeAt('README.md > Run it > 2').split(/^\$ /m);
    const requests = steps.filter((step) => step.startsWith('curl'));
    expect(requests).to.have.length(3);
    for (const request of requests) {
      const [command = '', ...shown] = linesOf(request);

      const printed = (await shell(`${command} -s`)).split(/\r?\n/);

      // The lines that are shown, in this order, perhaps with others between them.
      let place = 0;
      for (const line of shown.filter((text) => text !== '' && text !== '...')) {
        const rest = printed.slice(place);
        expect(rest, `what ${command} prints from line ${place} on`).to.include(line);
        place += rest.indexOf(line) + 1;
      }
    }
  });

  it('shows the docs page as it is now: npm run screenshots takes the picture anew', async () => {
    expect(read('README.md')).to.include(`](${PICTURE})`);
    const picture = readFileSync(join(ROOT, PICTURE), 'latin1');
    const [digest] = capturesIn(picture, /Comment\0(page [0-9a-f]{64})/g);
    expect(digest, 'the digest in the picture').to.equal(await pictured());
  });

  it('leads to a page that shows how to manage keys', async () => {
    const place = 'docs/operations/settings.md > API keys > 1';
    const [issue = '', list = '', revoke = ''] = linesOf(codeAt(place));
    const issued = await shell(issue);
    expect(issued).to.match(/^ast_live_\w+\n$/);

    const id = issued.split('_')[2] ?? '';
    const listed = await shell(list);
    for (const part of [id, 'shop-window', 'pets:read']) expect(listed).to.include(part);

    expect(await shell(revoke.replace('4fZk02Qa', id)), 'what revoke prints').to.equal('');
  });

  it('shows how to embed the use cases', async () => {
    writeFileSync(join(folder, 'embed.mjs'), codeAt('README.md > Embed it > 1'));
    expect(await shell('"$NODE" embed.mjs')).to.equal(
      '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}\n',
    );
  });

  it('installs the tarball that npm pack makes', () => {
    const [tarball] = capturesIn(read('README.md'), /animal-store\/(animal-store-.*\.tgz)/g);
    expect(tarball).to.equal(`animal-store-${VERSION}.tgz`);
  });

  it('promises by figures that the linked page has', () => {
    const rows = read('README.md').matchAll(/^\| [^|]* \| ([^|]*) \| \[[^\]]*\]\(([^)]*)\) *\|$/gm);
    let count = 0;
    for (const [, cell = '', page = ''] of rows) {
      const figuresOfPage = read(page).match(FIGURES);
      for (const figure of cell.match(FIGURES) ?? []) {
        expect(figuresOfPage, `the figures of ${page}`).to.include(figure);
        count += 1;
      }
    }
    expect(count, 'figures of the README').to.be.greaterThan(12);
  });

  it('leads to a page that shows how to call the service from another program', async () => {
    writeFileSync(join(folder, 'call.mjs'), codeAt('docs/embedding.md > From another program > 1'));
    const printed = await shell(`BASE_URL=${url} API_KEY=${key} "$NODE" call.mjs`);
    expect(printed)
      .to.match(/^\{"id":\d+,"name":"Bella".*\}\n/)
      .and.match(/\nno animal 4711\n$/);
  });
});
