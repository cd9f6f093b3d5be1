import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RunningService } from '../service/running-service.js';
import { cleanUp, shell } from '../service/child-process.js';
import { temporaryFolder } from '../temporary-folder.js';
import { codeAt, codeBelow } from './code-blocks.js';

describe('The README', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder(import.meta.dirname); // in this package, whose name a program can import
  });
  afterEach(cleanUp);

  /** What a line for a shell prints. */
  async function printedBy(line: string, environment = {}): Promise<string> {
    const child = shell(folder, line, environment);
    expect(await child.ended, `${line}\n${child.err}`).to.equal(0);
    return child.out;
  }

  it('shows requests that work, with their responses', async function () {
    if ((await shell(folder, 'command -v curl').ended) !== 0) this.skip(); // no curl here
    const STORE_URL = `sqlite:${join(folder, 'animals.db')}`;
    const service = new RunningService({ STORE_URL, EXPERIMENTAL: 'changePet' });
    const url = await service.ready();
    const [key = ''] = /ast_live_\w+/.exec(service.process.out) ?? [];
    const [variables = '', ...requests] = codeBelow('README.md > What you get')
      .flatMap((block) => block.split(/^\$ /m))
      .filter((step) => step !== '');
    expect(requests).to.have.length(5);
    const set = variables
      .trimEnd()
      .replace('http://127.0.0.1:8080/v1', url)
      .replace('ast_live_...', key);
    for (const request of requests) {
      const [command = '', ...shown] = request.trimEnd().split('\n');

      const printed = (await printedBy(`${set}; ${command} -s`)).split(/\r?\n/);

      // The lines that are shown, in this order, perhaps with others between them.
      let place = 0;
      for (const text of shown.filter((other) => other !== '' && other !== '...')) {
        expect(printed.slice(place), `what ${command} prints`).to.include(text);
        place = printed.indexOf(text, place) + 1;
      }
    }
  });

  it('shows a program that embeds the use cases', async () => {
    writeFileSync(join(folder, 'embed.mjs'), codeAt('README.md > Embed it > 1'));
    expect(await printedBy('"$NODE" embed.mjs')).to.equal(
      '{"id":1,"name":"Bella","categoryId":9223372036854775807,"status":"available"}\n',
    );
  });
});
