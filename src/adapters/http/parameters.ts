import type { PetQuery } from '../../application/animal-store.js';
import { InvalidParameterError, PetNotFoundError, type Fault } from '../../domain/errors.js';
import { parseInt64 } from '../../domain/int64.js';
import type { PetStatus } from '../../domain/pet-status.js';

/**
 * Reads the query of listPets. Values are not checked: the use case refuses all that are invalid together.
 * @throws {InvalidParameterError} naming every parameter that is repeated or misspelt
 */
export function readPetQuery(query: string): PetQuery {
  if (query === '') return {};
  const { limit, status, after } = parametersIn(query, NAMES_OF_LIST);
  return {
    limit: limit === undefined ? undefined : positiveInteger(limit),
    status,
    after: after === undefined ? undefined : (parseInt64(after) ?? after),
  } as PetQuery; // the use case refuses invalid values
}

/**
 * Reads the status that a change starts from. The use case checks it.
 * @throws {InvalidParameterError} `from` is repeated or misspelt
 */
export const readFrom = (query: string): PetStatus | undefined =>
  parametersIn(query, { from: 'from' })['from'] as PetStatus | undefined;

/**
 * For each name that a client may mean, what to send. The last four are other services' names for paging: to ignore
 * them would return the first page for ever.
 */
const NAMES_OF_LIST = {
  limit: 'limit',
  status: 'status',
  after: 'after',
  page: 'limit and after',
  offset: 'limit and after',
  skip: 'limit and after',
  cursor: 'limit and after',
};

/**
 * Parses a query. A name whose leading letters are in `names` must be exactly what these map to: to ignore `Status` or
 * `status[]` would return the list without its filter. Other names are ignored.
 * @throws {InvalidParameterError} one of these names is repeated or misspelt
 */
function parametersIn(
  query: string,
  names: Readonly<Record<string, string>>,
): Partial<Record<string, string>> {
  const sent = new URLSearchParams(query);
  const faults: Fault[] = [];
  for (const field of new Set(sent.keys())) {
    // The leading letters: `status` of `Status[0]`, `after` of `after.gt`.
    const word = field.replace(/[^a-z].*/is, '').toLowerCase();
    if (!Object.hasOwn(names, word)) continue;
    const expected = names[word];
    if (expected !== field)
      faults.push({ field, message: `is not a parameter: send ${expected} instead` });
    else if (sent.getAll(field).length > 1) faults.push({ field, message: 'must be given once' });
  }
  if (faults.length > 0) throw new InvalidParameterError(faults);
  return Object.fromEntries(sent);
}

/**
 * Reads the id in a path.
 * @throws {PetNotFoundError} it is not an int64, so no animal has it
 */
export function readPetId(petId = ''): bigint {
  const id = parseInt64(petId);
  if (id === undefined) throw new PetNotFoundError(petId);
  return id;
}

/** A positive integer of at most nine digits, else NaN, which the use case refuses. */
const positiveInteger = (text: string): number =>
  /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;

/**
 * The Link to the next page (RFC 8288): the same query with another `after`. It is relative to the request, so that it
 * is right below every mount and proxy, unless there is a public URL.
 */
export function nextLink(publicUrl: string | undefined, query: PetQuery, after: bigint): string {
  const next = Object.entries({ ...query, after }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const target = publicUrl === undefined ? '' : `${publicUrl}/pets`;
  return `<${target}?${next.join('&')}>; rel="next"`;
}
