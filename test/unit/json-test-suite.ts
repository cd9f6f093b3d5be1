import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// The public parsing cases for RFC 8259 are kept beside the project, not in it.
const folder = process.env['JSON_TEST_SUITE'] ?? '';

export const present = folder !== '' && existsSync(folder);
/** For titles. */
export const reason = present ? '' : ' (pending: JSON_TEST_SUITE names no folder with the cases)';

export type Verdict = 'accepted' | 'accepted, too deep for values' | 'refused';

/** What is decided where RFC 8259 leaves the choice. Refused is what is not UTF-8, and a byte order mark. */
export const DECISIONS: Readonly<Record<string, Verdict>> = {
  'i_number_double_huge_neg_exp.json': 'accepted',
  'i_number_huge_exp.json': 'accepted',
  'i_number_neg_int_huge_exp.json': 'accepted',
  'i_number_pos_double_huge_exp.json': 'accepted',
  'i_number_real_neg_overflow.json': 'accepted',
  'i_number_real_pos_overflow.json': 'accepted',
  'i_number_real_underflow.json': 'accepted',
  'i_number_too_big_neg_int.json': 'accepted',
  'i_number_too_big_pos_int.json': 'accepted',
  'i_number_very_big_negative_int.json': 'accepted',
  'i_object_key_lone_2nd_surrogate.json': 'accepted',
  'i_string_1st_surrogate_but_2nd_missing.json': 'accepted',
  'i_string_1st_valid_surrogate_2nd_invalid.json': 'accepted',
  'i_string_UTF-16LE_with_BOM.json': 'refused',
  'i_string_UTF-8_invalid_sequence.json': 'refused',
  'i_string_UTF8_surrogate_U+D800.json': 'refused',
  'i_string_incomplete_surrogate_and_escape_valid.json': 'accepted',
  'i_string_incomplete_surrogate_pair.json': 'accepted',
  'i_string_incomplete_surrogates_escape_valid.json': 'accepted',
  'i_string_invalid_lonely_surrogate.json': 'accepted',
  'i_string_invalid_surrogate.json': 'accepted',
  'i_string_invalid_utf-8.json': 'refused',
  'i_string_inverted_surrogates_U+1D11E.json': 'accepted',
  'i_string_iso_latin_1.json': 'refused',
  'i_string_lone_second_surrogate.json': 'accepted',
  'i_string_lone_utf8_continuation_byte.json': 'refused',
  'i_string_not_in_unicode_range.json': 'refused',
  'i_string_overlong_sequence_2_bytes.json': 'refused',
  'i_string_overlong_sequence_6_bytes.json': 'refused',
  'i_string_overlong_sequence_6_bytes_null.json': 'refused',
  'i_string_truncated-utf-8.json': 'refused',
  'i_string_utf16BE_no_BOM.json': 'refused',
  'i_string_utf16LE_no_BOM.json': 'refused',
  'i_structure_500_nested_arrays.json': 'accepted, too deep for values',
  'i_structure_UTF-8_BOM_empty_object.json': 'refused',
};

/** The names of the cases; none where they are not at hand. */
const names: readonly string[] = present ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

/** Those that must be accepted (`y_`), those that must be refused (`n_`), those that are open (`i_`). */
export const named = (prefix: 'y_' | 'n_' | 'i_'): string[] =>
  names.filter((name) => name.startsWith(prefix));

export const bytesOf = (name: string): Buffer => readFileSync(join(folder, name));
