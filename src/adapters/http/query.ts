import type { PetQuery } from '../../application/animal-store.js';
import { limitAndStatusFaults } from '../../application/create-animal-store.js';
import { InvalidParameterError } from '../../domain/errors.js';
import type { PetStatus } from '../../domain/pet.js';
import { encodedForLink } from './http-message.js';
import { OPERATIONS } from './operations.js';

/**
 * Reads the query of listPets. Unknown parameters are ignored, and `listPets` judges the values; only a repeated
 * parameter is refused here, together with every other fault.
 * @throws {InvalidParameterError} a parameter is repeated
 */
export function readPetQuery(query: string): PetQuery {
  if (query === '') return {};
  const sent = new URLSearchParams(`?${query}`);
  const limit = sent.get('limit');
  const read = {
    limit: limit === null ? undefined : decimal(limit),
    status: (sent.get('status') ?? undefined) as PetStatus | undefined,
    cursor: sent.get('cursor') ?? undefined,
  };
  const repeated = Object.keys(read).filter((name) => sent.getAll(name).length > 1);
  if (repeated.length === 0) return read;
  throw new InvalidParameterError([
    ...limitAndStatusFaults(read).filter(({ field }) => !repeated.includes(field)),
    ...repeated.map((field) => ({ field, message: 'must be given once' })),
  ]);
}

/** An integer in plain decimal, else NaN. */
const decimal = (text: string): number => (/^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN);

const isCursor = (pair: string): boolean =>
  // Only a name with percent-encoding needs decoding.
  pair.includes('%') ? new URLSearchParams(`?${pair}`).has('cursor') : /^cursor(?:=|$)/.test(pair);

/** The Link to the next page (RFC 8288): the same query, unknown parameters included, with another cursor. */
export function nextLink(baseUrl: string, query: string, cursor: string): string {
  const others = query.split('&').filter((pair) => pair !== '' && !isCursor(pair));
  const parameters = encodedForLink([...others, `cursor=${cursor}`].join('&'));
  return `<${baseUrl}${OPERATIONS.listPets.path}?${parameters}>; rel="next"`;
}
