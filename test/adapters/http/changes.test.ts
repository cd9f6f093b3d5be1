import { expect } from 'chai';
import type { ExperimentalAnimalStore } from '../../../src/application/animal-store.js';
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

/** Another change of the animal 1, and what is left of it. */
const MEANWHILE = {
  'a new status': {
    change: (store) => store.changePet(1n, { status: 'pending' }),
    left: ['Rex pending'],
    expected: '412 precondition_failed',
  },
  'a new name': {
    change: (store) => store.changePet(1n, { name: 'Bello' }),
    left: ['Bello available'],
    expected: '412 precondition_failed',
  },
  'a removal': {
    change: (store) => store.removePet(1n),
    left: [],
    expected: '404 pet_not_found',
  },
} as const satisfies Record<
  string,
  { change(store: ExperimentalAnimalStore): Promise<unknown>; left: string[]; expected: string }
>;

describe('A change with If-Match', () => {
  for (const [method, body] of [
    ['PATCH', '{"status":"sold"}'],
    ['PATCH', '{"name":"Max"}'],
    ['DELETE', undefined],
  ] as const) {
    for (const [what, { change: changeMeanwhile, left, expected }] of Object.entries(MEANWHILE)) {
      it(`is not made when ${what} comes before ${method} ${body ?? ''}, after the comparison`, async () => {
        const animalStore = memoryAnimalStore();
        const http = httpInterface({ animalStore });
        await http.handle(createWith(REX));
        const { headers } = await http.handle(requestWith(KEY, { path: '/v1/pets/1' }));
        const racing = {
          ...animalStore,
          async getPet(id: bigint | number) {
            const pet = await animalStore.getPet(id);
            await changeMeanwhile(animalStore);
            return pet;
          },
        };

        const response = await httpInterface({ animalStore: racing, settings }).handle(
          change({ 'if-match': headers['ETag'] ?? '' }, body),
        );

        const { pets } = await animalStore.listPets();
        expect(outcome(response)).to.equal(expected);
        expect(pets.map(({ name, status }) => `${name} ${status}`)).to.deep.equal(left);
      });
    }
  }
});

describe('A change by a page of another origin', () => {
  for (const [id, methods] of [
    ['changePet', 'GET, HEAD, PATCH, OPTIONS'],
    ['removePet', 'GET, HEAD, DELETE, OPTIONS'],
  ] as const) {
    it(`may be made, with If-Match, where ${id} alone is served`, async () => {
      const served = { experimental: [id], corsOrigins: ['*'] };
      const http = httpInterface({ animalStore: memoryAnimalStore(), settings: served });
      const asked = { origin: 'https://shop.example', 'access-control-request-method': 'PATCH' };

      const { headers } = await http.handle(
        requestWith(asked, { method: 'OPTIONS', path: '/v1/pets/1' }),
      );

      expect(headers).to.include({ 'Access-Control-Allow-Methods': methods });
      expect(headers['Access-Control-Allow-Headers']).to.match(/, If-Match$/);
    });
  }
});

describe('A change with members that it does not know', () => {
  it('names ten of them, and no more', async () => {
    const http = httpInterface({ animalStore: memoryAnimalStore(), settings });
    const names = Array.from({ length: 12 }, (_, index) => `m${String(index).padStart(2, '0')}`);
    const unknown = Object.fromEntries(names.map((name) => [name, 1]));

    const refused = await http.handle(change({}, JSON.stringify({ status: 'sold', ...unknown })));

    expect(refused.body.match(/m\d\d/g)).to.deep.equal(names.slice(0, 10));
  });
});
