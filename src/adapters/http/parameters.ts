import type { PetQuery } from '../../application/animal-store.js';
import { petQueryFaults, requireFrom } from '../../application/create-animal-store.js';
import { InvalidParameterError, PetNotFoundError } from '../../domain/errors.js';
import { parseInt64 } from '../../domain/int64.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { encodedForLink } from './http-message.js';
import { OPERATIONS } from './operations.js';

/**
 * Reads the query of listPets. Unknown parameters are ignored, and `listPets` checks the values; only a repeated
 * parameter and `cursor` are refused here, together with every other fault.
 * @throws {InvalidParameterError} a parameter is repeated, or `cursor` is given
 */
export function readPetQuery(query: string): PetQuery {
  if (query === '') return {};
  const sent = new URLSearchParams(`?${query}`);
  const limit = sent.get('limit');
  const after = sent.get('after');
  const read = {
    limit: limit === null ? undefined : decimal(limit),
    status: (sent.get('status') ?? undefined) as PetStatus | undefined,
    after: after === null ? undefined : (parseInt64(after) ?? (after as unknown as bigint)),
  };
  const repeated = Object.keys(read).filter((name) => sent.getAll(name).length > 1);
  // A client of an older version must not start again without noticing.
  const isOld = sent.has('cursor');
  if (repeated.length === 0 && !isOld) return read;
  throw new InvalidParameterError([
    ...petQueryFaults(read).filter(({ field }) => !repeated.includes(field)),
    ...repeated.map((field) => ({ field, message: 'must be given once' })),
    ...(isOld
      ? [{ field: 'cursor', message: 'was removed: use after, with the last id of your page' }]
      : []),
  ]);
}

/**
 * Reads the status that a change starts from. Unknown parameters are ignored.
 * @throws {InvalidParameterError} `from` is repeated or no status
 */
export function readFrom(query: string): PetStatus | undefined {
  const [from, ...more] = query === '' ? [] : new URLSearchParams(`?${query}`).getAll('from');
  if (more.length > 0)
    throw new InvalidParameterError([{ field: 'from', message: 'must be given once' }]);
  requireFrom(from as PetStatus | undefined);
  return from as PetStatus | undefined;
}

/**
 * Reads the id in a path.
 * @throws {PetNotFoundError} it is no int64, so no animal has it
 */
export function readPetId({ petId = '' }: Readonly<Record<string, string>>): bigint {
  const id = parseInt64(petId);
  if (id === undefined) throw new PetNotFoundError(petId);
  return id;
}

/** An integer in plain decimal, else NaN. */
const decimal = (text: string): number =>
  /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;

const isAfter = (pair: string): boolean =>
  // Only a name with percent-encoding needs decoding.
  pair.includes('%') ? new URLSearchParams(`?${pair}`).has('after') : /^after(?:=|$)/.test(pair);

/** The Link to the next page (RFC 8288): the same query, unknown parameters included, with another `after`. */
export function nextLink(linkBase: string, query: string, after: bigint): string {
  const others = query.split('&').filter((pair) => pair !== '' && !isAfter(pair));
  const parameters = encodedForLink([...others, `after=${after}`].join('&'));
  return `<${linkBase}${OPERATIONS.listPets.path}?${parameters}>; rel="next"`;
}
