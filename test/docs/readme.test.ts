import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Serving } from '../bootstrap/test-io.js';
import { cleanUp, shell as startShell } from '../service/child.js';
import { temporaryFolder } from '../temporary-folder.js';
import { codeAt } from './code-blocks.js';

describe('The README', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder(import.meta.dirname); // in this package, whose name a program can import
  });
  afterEach(cleanUp);

  /** What a line for a shell prints. */
  async function shell(line: string, environment = {}): Promise<string> {
    const child = startShell(folder, line, environment);
    expect(await child.ended, `${line}\n${child.err}`).to.equal(0);
    return child.out;
  }

  it('shows requests and their responses', async function () {
    if ((await startShell(folder, 'command -v curl').ended) !== 0) this.test?.skip(); // no curl here
    const service = new Serving({ STORE_URL: `sqlite:${join(folder, 'animals.db')}` });
    const url = await service.ready();
    const [KEY] = /ast_live_\w+/.exec(service.io.out) ?? [];
    const steps = codeAt('README.md > Run it > 2').split(/^\$ /m);
    const requests = steps.filter((step) => step.startsWith('curl'));
    expect(requests).to.have.length(3);
    for (const request of requests) {
      const [command = '', ...shown] = request.trimEnd().split('\n');
      const line = `${command} -s`.replace('http://127.0.0.1:8080/v1', url);

      const printed = (await shell(line, { KEY })).split(/\r?\n/);

      // The lines that are shown, in this order, perhaps with others between them.
      let place = 0;
      for (const text of shown.filter((other) => other !== '' && other !== '...')) {
        expect(printed.slice(place), `what ${command} prints`).to.include(text);
        place = printed.indexOf(text, place) + 1;
      }
    }
  });

  it('shows how to embed the use cases', async () => {
    writeFileSync(join(folder, 'embed.mjs'), codeAt('README.md > Embed it > 1'));
    expect(await shell('"$NODE" embed.mjs')).to.equal(
      '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}\n',
    );
  });
});
