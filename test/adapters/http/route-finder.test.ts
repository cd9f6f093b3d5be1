import { expect } from 'chai';
import { createRouteFinder } from '../../../src/adapters/http/routes/route-finder.js';
import type { Route } from '../../../src/adapters/http/routes/route.js';

const route = (path: string): Route => ({ path, endpoints: new Map(), open: true, headers: {} });

describe('createRouteFinder', () => {
  const find = createRouteFinder(
    ['/v1/pets', '/v1/pets/{petId}', '/a.b/{one}-{two}/c', '/a.b/x-y/c'].map(route),
  );

  const FOUND: ReadonlyArray<readonly [path: string, route: string, parameters?: Record<string, string>]> = [
    ['/v1/pets', '/v1/pets'],
    ['/v1/pets/7', '/v1/pets/{petId}', { petId: '7' }],
    ['/v1/pets/%2F%ZZ', '/v1/pets/{petId}', { petId: '%2F%ZZ' }],
    ['/v1/pets/{petId}', '/v1/pets/{petId}', { petId: '{petId}' }],
    ['/v1/pets/a\nb', '/v1/pets/{petId}', { petId: 'a\nb' }],
    ['/a.b/1-2/c', '/a.b/{one}-{two}/c', { one: '1', two: '2' }],
    ['/a.b/x-y/c', '/a.b/x-y/c'],
  ];
  for (const [path, expected, parameters = {}] of FOUND) {
    it(`finds ${expected} by ${JSON.stringify(path)}, its parameters as sent`, () => {
      const found = find(path);
      expect(found?.route.path).to.equal(expected);
      expect(found?.parameters).to.deep.equal(parameters);
    });
  }

  for (const path of [
    '',
    '/',
    '/v1/pets/',
    '/v1//pets',
    '/V1/pets',
    '/v1/pets/1/',
    '/v1/pets/1/2',
    '/v1/pet',
  ]) {
    it(`finds nothing by ${JSON.stringify(path)}`, () => {
      expect(find(path)).to.equal(undefined);
    });
  }

  it('takes the characters of a path for themselves', () => {
    expect(find('/axb/1-2/c')).to.equal(undefined);
    expect(find('/v1/pets/1\n')?.parameters).to.deep.equal({ petId: '1\n' });
  });
});
