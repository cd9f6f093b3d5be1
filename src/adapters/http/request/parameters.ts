import { Compile } from 'typebox/compile';
import type { PetQuery } from '../../../application/animal-store.js';
import { InvalidParameterError, type Fault } from '../../../domain/errors.js';
import { parseInt64 } from '../../../domain/int64.js';
import { jsonSchema } from '../open-api/json-schema.js';
import { OPERATIONS } from '../operations.js';

/** The parameters that listPets declares: how each is read, and judged by its schema. */
const PET_QUERY = Object.entries(OPERATIONS.listPets.parameters).map(([field, { schema }]) => {
  const validator = Compile(schema);
  return {
    field,
    read: jsonSchema(schema)['type'] === 'integer' ? readDecimal : (text: string) => text,
    fault: (value: unknown) =>
      validator.Check(value) ? undefined : (validator.Errors(value)[0]?.message ?? 'is not valid'),
  };
});

/**
 * The query of listPets. Unknown parameters are ignored; a known one may stand once, and is taken as it is
 * or refused: nothing is clamped or converted.
 * @throws {InvalidParameterError} naming every parameter that is wrong
 */
export function readPetQuery(query: string): PetQuery {
  if (query === '') return {};
  const sent = new URLSearchParams(`?${query}`);
  const faults: Fault[] = [];
  const read: Record<string, unknown> = {};
  for (const parameter of PET_QUERY) {
    const { field } = parameter;
    const [text, second] = sent.getAll(field);
    if (text === undefined) continue;
    const value = parameter.read(text);
    const message = second === undefined ? parameter.fault(value) : 'must be given once';
    if (message === undefined) read[field] = value;
    else faults.push({ field, message });
  }
  if (faults.length > 0) throw new InvalidParameterError(faults);
  return read;
}

/** An integer in plain decimal, or NaN; its bounds are the schema's. */
function readDecimal(text: string): number {
  return /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;
}

/** The petId of a path, as sent. `undefined` when it is no int64 in canonical decimal: no animal has such an id. */
export function readPetId(sent: string): bigint | undefined {
  try {
    return parseInt64(decodeURIComponent(sent));
  } catch {
    return undefined; // percent-encoding that is none
  }
}
