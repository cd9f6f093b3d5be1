import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readJson } from '../../src/exact-json.js';

// The parsing cases of nst/JSONTestSuite are not part of the repository: JSON_TEST_SUITE names their folder.
const FOLDER = process.env['JSON_TEST_SUITE'] ?? '';
const PRESENT = FOLDER !== '' && existsSync(FOLDER);

/** Those that must be accepted (`y_`), those that must be refused (`n_`), and those that are open (`i_`). */
const named = (prefix: 'y_' | 'n_' | 'i_'): string[] =>
  readdirSync(FOLDER).filter((file) => file.startsWith(prefix) && file.endsWith('.json'));

/** The text of a case, as the HTTP interface decodes a body: a byte order mark stays, and is no JSON. */
const textOf = (file: string): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(join(FOLDER, file)));

/** Whether reading fails by the error of a reader, or by that of the decoder. */
function refuses(reader: (text: string) => unknown, file: string): boolean {
  try {
    reader(textOf(file));
    return false;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return true;
    throw error;
  }
}

(PRESENT ? describe : describe.skip)(
  `readJson on the public parsing cases${PRESENT ? '' : ' (pending: JSON_TEST_SUITE names no folder with them)'}`,
  () => {
    it('accepts the 95 that are JSON, and reports duplicate members in two of them', () => {
      expect(named('y_')).to.have.length(95);
      const reported = named('y_').filter((file) => readJson(textOf(file)).duplicates.length > 0);
      expect(reported).to.have.members([
        'y_object_duplicated_key.json',
        'y_object_duplicated_key_and_value.json',
      ]);
    });

    it('refuses the 188 that are not', () => {
      expect(named('n_')).to.have.length(188);
      expect(named('n_').filter((file) => !refuses(readJson, file))).to.deep.equal([]);
    });

    it('decides the 35 open ones as JSON.parse does', () => {
      expect(named('i_')).to.have.length(35);
      const refused = named('i_').filter((file) => refuses(readJson, file));
      expect(refused).to.deep.equal(named('i_').filter((file) => refuses(JSON.parse, file)));
      expect(refused).to.have.length(14);
    });
  },
);
