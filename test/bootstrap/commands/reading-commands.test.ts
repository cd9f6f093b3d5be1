import { expect } from 'chai';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.js';
import { cleanUp, makeOldStore, testFile } from '../../adapters/sqlite/temporary-store.js';
import { runLine } from '../test-io.js';

describe('commands on a store of an older version', () => {
  afterEach(cleanUp);

  for (const line of ['keys list', 'export - --format csv', 'copy --from sqlite:STORE --to sqlite:NEW']) {
    it(`${line.replace(/ -.*/, '')} refuses it with 1 and one line, and leaves it as it is`, async () => {
      const { folder, file } = testFile();
      makeOldStore(file);
      const before = await readFile(file);
      const words = line.replace('STORE', file).replace('NEW', join(folder, 'new.db'));
      const { code, out, err } = await runLine(words, { STORE_URL: `sqlite:${file}` });
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.match(
        /^[^\n]+animals\.db has schema version 2, and reading does not upgrade it: [^\n]+\n$/,
      );
      expect(before.equals(await readFile(file))).to.equal(true);
      expect(await readdir(folder)).to.deep.equal(['animals.db']);
    });
  }

  it('a writing command upgrades it, and says so first', async () => {
    const { file } = testFile();
    makeOldStore(file);
    const { code, err } = await runLine('keys issue --name a', { STORE_URL: `sqlite:${file}` });
    expect(code).to.equal(0);
    const upgrading = `^upgrading [^\\n]+ from schema version 2 to ${SCHEMA_VERSION}: [^\\n]+\\n`;
    expect(err).to.match(new RegExp(`${upgrading}Issued key [^\\n]+\\n$`));
    expect((await runLine('keys list', { STORE_URL: `sqlite:${file}` })).code).to.equal(0);
  });
});
