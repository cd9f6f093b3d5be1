import { expect } from 'chai';
import * as fc from 'fast-check';
import { splitRequestTarget } from '../../../src/adapters/http/http-message.js';
import { readPetQuery } from '../../../src/adapters/http/parameters.js';
import { petJson } from '../../../src/adapters/http/pet-json.js';
import { readJsonText, readNewPet } from '../../../src/adapters/http/request-body.js';
import { createRouteFinder, type Route } from '../../../src/adapters/http/routes.js';
import { InvalidParameterError, InvalidPetError, type Fault } from '../../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_RULES, petWithId, type Pet } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { parseJson, stringifyJson } from '../../../src/exact-json.js';
import { REX, createWith } from './fixtures.js';

/** The faults that `read` throws, as sentences. */
function faultsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidPetError || error instanceof InvalidParameterError)) throw error;
    return error.faults.map(({ field, message }: Fault) => `${field} ${message}`.trim());
  }
}

const CATEGORY_ID =
  'categoryId must be an integer from -9223372036854775808 to 9223372036854775807';

describe('readJsonText', () => {
  for (const quoted of ['\\";', ';', '\\"', '";'])
    it(`reads at once a Content-Type with thousands of ${quoted}`, async () => {
      const type = `application/json; a="${quoted.repeat(2000)}`;
      const header = (name: string) => (name === 'content-type' ? type : undefined);
      const request = createWith(REX, { header });
      const start = process.cpuUsage();

      await readJsonText(request, ['application/json'], 1000).catch(() => 'refused');

      // Below a millisecond in one pass; a pattern that looked for an end from each quote took 13 seconds.
      expect(process.cpuUsage(start).user, 'microseconds of CPU').to.be.below(1_000_000);
    });
});

describe('readNewPet', () => {
  it('names every fault of the fields when JSON has faults of its own', () => {
    const deep = '['.repeat(17) + ']'.repeat(17);

    expect(
      faultsOf(() => readNewPet(`{"name":" ","categoryId":1.5,"x":1,"x":${deep}}`)),
    ).to.deep.equal([
      'x is given twice',
      'it must not be nested deeper than 16',
      `name ${PET_RULES.name(' ')}`,
      CATEGORY_ID,
    ]);
    expect(faultsOf(() => readNewPet('{"status":"x","status":"sold"}'))).to.deep.equal([
      'status is given twice',
      'name is required',
      'categoryId is required',
    ]);
  });

  it('shortens and escapes the name of a repeated member', () => {
    const name = `\\u001b[31m${'x'.repeat(100)}`;
    const [fault = ''] = faultsOf(() =>
      readNewPet(`{"name":"a","categoryId":1,"${name}":1,"${name}":2}`),
    );

    expect(fault).to.match(/^"\/\\u001b\[31mx{54}" is given twice$/);
  });
});

describe('readPetQuery', () => {
  it('says of a repeated parameter only that it is repeated, and names every fault of the others', () => {
    expect(faultsOf(() => readPetQuery('limit=0&limit=5&status=gone'))).to.deep.equal([
      'status must be one of available, pending, sold',
      'limit must be given once, in exactly this spelling, without brackets',
    ]);
  });
});

describe('splitRequestTarget', () => {
  for (const [target, path, query] of [
    ['/v1/pets?', '/v1/pets', ''],
    ['/v1/pets?a=?&b=/?', '/v1/pets', 'a=?&b=/?'],
    ['*', '*', ''],
    ['', '', ''],
    ['/v1/../v1//pets/%2e%2E/%3F?x=%20+', '/v1/../v1//pets/%2e%2E/%3F', 'x=%20+'],
    ['//host/v1/pets', '//host/v1/pets', ''],
    ['/v1/pets#top', '/v1/pets#top', ''],
    ['http://host/v1/pets?a=1', '/v1/pets', 'a=1'],
    ['HTTPS://me@[::1]:80/v1/pets', '/v1/pets', ''],
    ['http://host', '/', ''],
    ['http://host?a=/b', '/', 'a=/b'],
    ['ftp://host/v1/pets?a', 'ftp://host/v1/pets', 'a'],
    ['http://me:se@cret@host/a@b', '/a@b', ''],
    ['ftp://me:se@cret@host/a@b', 'ftp://host/a@b', ''],
    ['me:secret@host:443', 'host:443', ''],
    ['/a:b@c', '/a:b@c', ''],
    ['http:///v1/pets', 'http:///v1/pets', ''],
    ['v1/pets?a', 'v1/pets', 'a'],
  ] as const) {
    it(`splits ${JSON.stringify(target)}`, () => {
      expect(splitRequestTarget(target)).to.deep.equal({ path, query });
    });
  }
});

const route = (path: string): Route => ({ path, endpoints: new Map(), open: true });

describe('createRouteFinder', () => {
  const find = createRouteFinder(['/v1/pets', '/v1/pets/{petId}'].map(route));

  for (const [path, petId] of [
    ['/v1/pets/%37', '7'],
    ['/v1/pets/%2531', '%31'],
    ['/v1/pets/%2F%ZZ', '%2F%ZZ'],
    ['/v1/pets/a\n', 'a\n'],
    ['/v1/pets/{petId}', '{petId}'],
  ] as const) {
    it(`decodes the id of ${JSON.stringify(path)} once`, () => {
      expect(find(path)).to.deep.equal({ route: route('/v1/pets/{petId}'), parameters: { petId } });
    });
  }
});

describe('An animal as JSON', () => {
  const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
  const validName = fc
    .string({ unit: 'binary', minLength: 1 })
    .filter((text) => PET_RULES.name(text) === undefined);
  const pet: fc.Arbitrary<Pet> = fc
    .record({
      id: int64,
      name: validName,
      categoryId: int64,
      status: fc.constantFrom(...PET_STATUSES),
    })
    .map(({ id, ...rest }) => petWithId(id, rest));

  it('is what exact JSON writes and reads', () => {
    fc.assert(
      fc.property(pet, (any) => {
        expect(petJson(any)).to.equal(stringifyJson(any));
        expect(parseJson(petJson(any))).to.deep.equal({ ...any });
      }),
    );
  });
});
