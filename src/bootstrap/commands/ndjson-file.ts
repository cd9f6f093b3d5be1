import type { ImportRow, LineFault } from '../../application/import-pets.js';
import type { Pet } from '../../domain/pet.js';
import { parseJson, stringifyJson } from '../../json.js';
import { fieldsOf, requireFields } from './pet-file.js';

/**
 * Reads each line that is not blank as a JSON object with the members of an animal. A member that is null has no value.
 */
export async function* ndjsonRows(
  text: string,
  ignoreInto?: Set<string>,
): AsyncGenerator<ImportRow | LineFault> {
  for (const [index, content] of text.split(/\r\n|\r|\n/).entries()) {
    if (content.trim() === '') continue;
    const line = index + 1;
    try {
      const value = parseJson(content);
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new Error('The line is not a JSON object.');
      const names = Object.keys(value);
      requireFields(names, ignoreInto);
      const values = Object.values(value).map((member: unknown) => member ?? undefined);
      yield { line, fields: fieldsOf(names, values) };
    } catch (error) {
      yield { line, message: (error as Error).message };
    }
  }
}

export const ndjsonLineOf = (pet: Pet): string => `${stringifyJson(pet)}\n`;
