import { expect } from 'chai';
import * as fc from 'fast-check';
import { splitRequestTarget } from '../../../src/adapters/http/http-message.js';
import { petJson } from '../../../src/adapters/http/pet-json.js';
import { createRouteFinder, type Route } from '../../../src/adapters/http/routes.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { parseJson, stringifyJson } from '../../../src/json.js';

describe('splitRequestTarget', () => {
  for (const [target, path, query] of [
    ['/v1/pets?', '/v1/pets', ''],
    ['/v1/pets?a=?&b=/?', '/v1/pets', 'a=?&b=/?'],
    ['*', '*', ''],
    ['/v1/../v1//pets/%2e%2E/%3F?x=%20+', '/v1/../v1//pets/%2e%2E/%3F', 'x=%20+'],
    ['//host/v1/pets', '//host/v1/pets', ''],
    ['/a://b/c', '/a://b/c', ''],
    ['http://host/v1/pets?a=1', '/v1/pets', 'a=1'],
    ['HTTPS://me:secret@[::1]:80/v1/pets', '/v1/pets', ''],
    ['http://host', '/', ''],
    ['http://host?a=/b', '/', 'a=/b'],
  ] as const)
    it(`splits ${JSON.stringify(target)}`, () => {
      expect(splitRequestTarget(target)).to.deep.equal({ path, query });
    });
});

const route = (path: string): Route => ({ path, endpoints: new Map(), open: true });

describe('createRouteFinder', () => {
  const find = createRouteFinder(['/v1/pets', '/v1/pets/{petId}'].map(route));

  for (const [path, petId] of [
    ['/v1/pets/%37', '7'],
    ['/v1/pets/%2531', '%31'],
    ['/v1/pets/%2F%ZZ', '%2F%ZZ'],
    ['/v1/pets/a\n', 'a\n'],
  ] as const)
    it(`decodes the id of ${JSON.stringify(path)} once`, () => {
      expect(find(path)).to.deep.equal({ route: route('/v1/pets/{petId}'), petId });
    });

  for (const path of ['/v1/pets/', '/v1/Pets', '/v1/pets/1/', '/v1', ''])
    it(`finds nothing at ${JSON.stringify(path)}`, () => {
      expect(find(path)).to.equal(undefined);
    });
});

describe('An animal as JSON', () => {
  const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
  const name = fc.string({ minLength: 1 });
  const status = fc.constantFrom(...PET_STATUSES);

  it('is what exact JSON writes and reads', () => {
    fc.assert(
      fc.property(int64, fc.record({ name, categoryId: int64, status }), (id, fields) => {
        const pet = petWithId(id, fields);
        expect(petJson(pet)).to.equal(stringifyJson(pet));
        expect(parseJson(petJson(pet))).to.deep.equal({ ...pet });
      }),
    );
  });
});
