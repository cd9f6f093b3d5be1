import { expect } from 'chai';
import {
  KEY,
  REX,
  createWith,
  httpInterface,
  memoryAnimalStore,
  outcome,
  requestWith,
} from './fixtures.js';

const settings = { experimental: ['changePet', 'removePet'] } as const;

/** A PATCH of the animal 1 with this body, or its DELETE. */
const change = (headers: Readonly<Record<string, string>>, body?: string) =>
  requestWith(
    { ...KEY, ...headers },
    {
      method: body === undefined ? 'DELETE' : 'PATCH',
      path: '/v1/pets/1',
      readBody: async () => new TextEncoder().encode(body),
    },
  );

const CHANGES = { another: { status: 'pending' }, 'a new name': { name: 'Bello' } } as const;

describe('A change with If-Match', () => {
  for (const [body, meanwhile, expected] of [
    ['{"status":"sold"}', 'another', '412 precondition_failed'],
    ['{"status":"sold"}', 'a removal', '404 pet_not_found'],
    [undefined, 'another', '412 precondition_failed'],
    [undefined, 'a removal', '404 pet_not_found'],
    ['{"status":"sold"}', 'a new name', '412 precondition_failed'],
    [undefined, 'a new name', '412 precondition_failed'],
    ['{"name":"Max"}', 'a new name', '412 precondition_failed'],
  ] as const)
    it(`is not made when ${meanwhile} comes before ${body ? 'PATCH' : 'DELETE'}, after the comparison`, async () => {
      const animalStore = memoryAnimalStore();
      const racing = {
        ...animalStore,
        async getPet(id: bigint | number) {
          const pet = await animalStore.getPet(id);
          if (meanwhile === 'a removal') await animalStore.removePet(id);
          else await animalStore.changePet(id, CHANGES[meanwhile]);
          return pet;
        },
      };
      await httpInterface({ animalStore }).handle(createWith(REX));
      const found = await httpInterface({ animalStore }).handle(
        requestWith(KEY, { path: '/v1/pets/1' }),
      );
      const ifMatch = { 'if-match': found.headers['ETag'] ?? '' };
      const response = await httpInterface({ animalStore: racing, settings }).handle(
        change(ifMatch, body),
      );
      expect(outcome(response)).to.equal(expected);
      const { pets } = await animalStore.listPets();
      expect(pets.map(({ name, status }) => `${name} ${status}`)).to.deep.equal(
        { another: ['Rex pending'], 'a new name': ['Bello available'], 'a removal': [] }[meanwhile],
      );
    });
});

describe('A change by a page of another origin', () => {
  for (const id of settings.experimental)
    it(`may be made, with If-Match, where ${id} alone is served`, async () => {
      const served = { experimental: [id], corsOrigins: ['*'] };
      const http = httpInterface({ animalStore: memoryAnimalStore(), settings: served });
      const asked = { origin: 'https://shop.example', 'access-control-request-method': 'PATCH' };
      const { headers } = await http.handle(
        requestWith(asked, { method: 'OPTIONS', path: '/v1/pets/1' }),
      );
      const methods = `GET, HEAD, ${id === 'removePet' ? 'DELETE' : 'PATCH'}, OPTIONS`;
      expect(headers).to.include({ 'Access-Control-Allow-Methods': methods });
      expect(headers['Access-Control-Allow-Headers']).to.match(/, If-Match$/);
    });
});

describe('A change with members that it does not know', () => {
  it('names ten of them, and no more', async () => {
    const http = httpInterface({ animalStore: memoryAnimalStore(), settings });
    const names = Array.from({ length: 12 }, (_, index) => `m${String(index).padStart(2, '0')}`);
    const body = JSON.stringify({
      status: 'sold',
      ...Object.fromEntries(names.map((name) => [name, 1])),
    });
    const { message } = JSON.parse((await http.handle(change({}, body))).body) as {
      message: string;
    };
    expect(message.match(/m\d\d/g)).to.deep.equal(names.slice(0, 10));
  });
});
