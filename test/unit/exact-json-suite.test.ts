import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { JsonSyntaxError, readJson } from '../../src/exact-json.js';

// The parsing cases of nst/JSONTestSuite are not part of the repository: JSON_TEST_SUITE names their folder.
const FOLDER = process.env['JSON_TEST_SUITE'] ?? '';
const PRESENT = FOLDER !== '' && existsSync(FOLDER);

/** The cases that RFC 8259 leaves open, and are refused: not UTF-8, or with a byte order mark. All others are read. */
const REFUSED = [
  'i_string_UTF-16LE_with_BOM',
  'i_string_UTF-8_invalid_sequence',
  'i_string_UTF8_surrogate_U+D800',
  'i_string_invalid_utf-8',
  'i_string_iso_latin_1',
  'i_string_lone_utf8_continuation_byte',
  'i_string_not_in_unicode_range',
  'i_string_overlong_sequence_2_bytes',
  'i_string_overlong_sequence_6_bytes',
  'i_string_overlong_sequence_6_bytes_null',
  'i_string_truncated-utf-8',
  'i_string_utf16BE_no_BOM',
  'i_string_utf16LE_no_BOM',
  'i_structure_UTF-8_BOM_empty_object',
];

/** Those that must be accepted (`y_`), those that must be refused (`n_`), and those that are open (`i_`). */
const named = (prefix: 'y_' | 'n_' | 'i_'): string[] =>
  readdirSync(FOLDER).flatMap((file) =>
    file.startsWith(prefix) && file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : [],
  );

/** Reads a case as the HTTP interface reads a body. */
const read = (name: string) =>
  readJson(
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      readFileSync(join(FOLDER, `${name}.json`)),
    ),
  );

function isRefused(name: string): boolean {
  try {
    read(name);
    return false;
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof TypeError) return true;
    throw error;
  }
}

(PRESENT ? describe : describe.skip)(
  `readJson on the public parsing cases${PRESENT ? '' : ' (pending: JSON_TEST_SUITE names no folder with them)'}`,
  () => {
    it('accepts the 95 that are JSON', () => {
      expect(named('y_')).to.have.length(95);
      expect(named('y_').filter(isRefused)).to.deep.equal([]);
    });

    it('refuses the 188 that are not', () => {
      expect(named('n_')).to.have.length(188);
      expect(named('n_').filter((name) => !isRefused(name))).to.deep.equal([]);
    });

    it('decides the 35 open ones as published', () => {
      expect(named('i_')).to.have.length(35);
      expect(named('i_').filter(isRefused)).to.have.members(REFUSED);
      const deep = named('i_').filter((name) => !REFUSED.includes(name) && read(name).tooDeep);
      expect(deep).to.deep.equal(['i_structure_500_nested_arrays']);
    });

    it('reports duplicate members in the two cases that have some', () => {
      const reported = named('y_').filter((name) => read(name).duplicates.length > 0);
      expect(reported).to.have.members(['y_object_duplicated_key', 'y_object_duplicated_key_and_value']);
    });
  },
);
