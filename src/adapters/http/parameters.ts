import type { PetQuery } from '../../application/animal-store.js';
import { petQueryFaults } from '../../application/call-rules.js';
import {
  InvalidParameterError,
  PetNotFoundError,
  faultsOf,
  type Fault,
} from '../../domain/errors.js';
import { parseInt64 } from '../../domain/int64.js';
import { PET_RULES } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { encodedForLink } from './http-message.js';
import { OPERATIONS } from './operations.js';
import type { RequestContext } from './routes.js';
import { changeQueryValidator, listQueryValidator, ListQuery } from './schemas.js';

/**
 * Reads the query of listPets. Unknown parameters are ignored.
 * @throws {InvalidParameterError} naming every fault: also a parameter that is repeated or misspelled, and `cursor`
 */
export function readPetQuery(query: string): PetQuery {
  if (query === '') return {};
  const sent = new URLSearchParams(`?${query}`);
  const limit = sent.get('limit');
  const after = sent.get('after');
  const read = {
    limit: limit === null ? undefined : decimal(limit),
    status: sent.get('status') ?? undefined,
    after: after === null ? undefined : (parseInt64(after) ?? after),
  } satisfies Record<keyof PetQuery, unknown>;
  const refused = repeatedOrMisspelledIn(sent, Object.keys(read));
  if (sent.has('cursor'))
    refused.push({
      field: 'cursor',
      message: 'is unknown: use after, with the last id of your page',
    });
  if (refused.length === 0 && listQueryValidator.Check(read)) return read;
  const others = petQueryFaults(read).filter(({ field }) =>
    refused.every((fault) => fault.field !== field),
  );
  throw new InvalidParameterError([...others, ...refused]);
}

/**
 * Reads the status that a change starts from. Unknown parameters are ignored.
 * @throws {InvalidParameterError} `from` is repeated, misspelled or no status
 */
export function readFrom(query: string): PetStatus | undefined {
  const sent = new URLSearchParams(`?${query}`);
  const repeated = repeatedOrMisspelledIn(sent, ['from']);
  if (repeated.length > 0) throw new InvalidParameterError(repeated);
  const read = { from: sent.get('from') ?? undefined };
  if (changeQueryValidator.Check(read)) return read.from;
  throw new InvalidParameterError(faultsOf({ from: PET_RULES.status(read.from) }));
}

/**
 * A fault for each parameter that is given more than once, in capitals, or with brackets or a dot. Client libraries write
 * `Status=sold`, `status[]=sold` and `after.gt=1`. If these were ignored, the response would have other animals than the
 * client asked for.
 */
function repeatedOrMisspelledIn(sent: URLSearchParams, names: readonly string[]): Fault[] {
  const keys = [...sent.keys()];
  const message = 'must be given once, in exactly this spelling, without brackets';
  return names.flatMap((field) => {
    const wanted = field.toLowerCase();
    const given = keys.filter((key) => key.replace(/[[.].*/s, '').toLowerCase() === wanted);
    const isOnce = given.length === 1 && given[0] === field;
    return given.length === 0 || isOnce ? [] : { field, message };
  });
}

/**
 * Reads the id in a path.
 * @throws {PetNotFoundError} it is no int64, so no animal has it
 */
export function readPetId({ petId = '' }: RequestContext['parameters']): bigint {
  const id = parseInt64(petId);
  if (id === undefined) throw new PetNotFoundError(petId);
  return id;
}

/** An integer in plain decimal, else NaN. */
const decimal = (text: string): number =>
  /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;

/** The name of a parameter. Only one with percent-encoding needs decoding. */
function nameOf(pair: string): string | undefined {
  const [encoded] = pair.split('=', 1);
  return encoded?.includes('%') ? new URLSearchParams(`?${encoded}`).keys().next().value : encoded;
}

/** The longest query of a Link, in characters. Proxies bound the headers of a response, often to 4 KiB in all. */
const MAX_LINK_QUERY = 2000;

/**
 * The Link to the next page (RFC 8288): the same query with another `after`. It repeats unknown parameters, unless they
 * make it too long.
 */
export function nextLink(linkBase: string, query: string, after: bigint): string {
  const others = query.split('&').filter((pair) => pair !== '' && nameOf(pair) !== 'after');
  let nextQuery = queryOf(others, after);
  if (nextQuery.length > MAX_LINK_QUERY) {
    const known = others.filter((pair) => Object.hasOwn(ListQuery.properties, nameOf(pair) ?? ''));
    nextQuery = queryOf(known, after);
  }
  return `<${linkBase}${OPERATIONS.listPets.path}?${nextQuery}>; rel="next"`;
}

const queryOf = (pairs: readonly string[], after: bigint): string =>
  encodedForLink([...pairs, `after=${after}`].join('&'));
