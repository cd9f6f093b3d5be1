import { expect } from 'chai';
import { ServiceError } from '../../../../src/adapters/http/client/service-error.js';
import { ERRORS } from '../../../../src/adapters/http/error-codes.js';
import {
  ANIMAL_STORE_ERROR_CODES,
  IdempotencyConflictError,
  InvalidPetError,
  PetNotFoundError,
  UnavailableError,
  isAnimalStoreError,
} from '../../../../src/domain/errors.js';
import type { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { PetQuery } from '../../../../src/application/animal-store.js';
import { rejectionOf } from '../../../contract/rejection.js';
import {
  BASE_URL,
  BELLA,
  bella,
  broken,
  errorJson,
  fakeService,
  html,
  json,
  type ClientCall,
  type Step,
} from './fake-service.js';

const listing: ClientCall = (client) => client.listPets();
const getting: ClientCall = (client) => client.getPet(1n);

const animal = (change: string | RegExp, to: string): Response =>
  json(200, BELLA.replace(change, to));

describe('AnimalStoreClient reads', () => {
  it('animals to the letter and the digit, frozen, without other members', async () => {
    const { client } = fakeService(
      json(
        200,
        '[ {"status":"sold","categoryId":-9223372036854775808,"name":"é🐕","id":7.0e1,"colour":1.5} ]',
      ),
    );

    const { pets } = await client().listPets();

    expect(pets).to.deep.equal([
      { id: 70n, name: 'é🐕', categoryId: -(2n ** 63n), status: 'sold' },
    ]);
    expect(pets[0]).to.be.frozen;
  });

  for (const [what, link, next] of [
    ['a relative link', '</v1/pets?limit=5&after=7>; rel="next"', 7n],
    [
      'an absolute link',
      `<${BASE_URL}/pets?after=9223372036854775807&limit=2>; rel="next"`,
      2n ** 63n - 1n,
    ],
    [
      'the second of two links',
      '</a?after=1>; rel="prev"; title="a, ;", </b?after=-3>; rel="next"',
      -3n,
    ],
    ['no link', '', undefined],
    ['another kind of link', '</v1/pets?status=available>; rel="successor-version"', undefined],
    ['other relations', '</?after=5>; rel="nextish", </?after=6>', undefined],
  ] as const) {
    it(`the next page of ${what}`, async () => {
      const { client } = fakeService(json(200, '[]', { Link: link }));

      expect((await client().listPets()).next).to.equal(next);
    });
  }
});

describe('AnimalStoreClient rejects as unexpected', () => {
  const nonsense: ReadonlyArray<readonly [string, ClientCall, Step]> = [
    ['a page of a proxy with status 200', listing, html(200)],
    ['an object for a list', listing, json(200, '{}')],
    ['a list with something else in it', listing, json(200, `[${BELLA},null]`)],
    ['an id given twice', getting, animal('{', '{"id":2,')],
    ['a blank name', getting, animal('Bella', ' ')],
    ['204', listing, new Response(null, { status: 204 })],
    ['304', listing, new Response(null, { status: 304 })],
    ['401 of a proxy', listing, html(401)],
    ['an error without a code', listing, json(403, '{"message":"Forbidden"}')],
    ['an error whose code is no text', listing, json(400, '{"code":5,"message":"Forbidden"}')],
    ['an error that is a text', listing, json(400, '"invalid_pet"')],
  ];
  for (const [what, call, step] of nonsense) {
    it(what, async () => {
      const { client, sent } = fakeService(step);

      const error = await rejectionOf(call(client()));

      expect(error).to.be.instanceOf(ServiceError).with.property('code', 'unexpected_response');
      expect(sent, 'requests').to.have.length(1);
    });
  }

  it('a redirect, also as browsers hide it: the key goes nowhere else', async () => {
    const elsewhere = { Location: 'https://elsewhere.example/v1/pets' };
    const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });

    for (const status of [0, 301, 302, 303, 307, 308]) {
      const moved = status === 0 ? hidden : new Response('moved', { status, headers: elsewhere });
      const { client, sent } = fakeService(async () => moved);

      const error = await rejectionOf(client().listPets());

      expect(error)
        .to.be.instanceOf(ServiceError)
        .and.include({ code: 'unexpected_response', status });
      expect(error)
        .to.have.property('message')
        .that.matches(/redirect.*baseUrl/);
      expect(sent, 'requests').to.have.length(1);
    }
  });
});

describe('AnimalStoreClient maps', () => {
  const options = { retries: 0 };

  for (const code of ANIMAL_STORE_ERROR_CODES) {
    it(`${code} to the error of the domain, with a ServiceError as its cause`, async () => {
      const { client } = fakeService(errorJson(ERRORS[code].status, code, { 'Retry-After': '7' }));

      const error = await rejectionOf(client(options).getPet(5n));

      expect(isAnimalStoreError(error) && error.code).to.equal(code);

      if (error instanceof UnavailableError || error instanceof IdempotencyConflictError)
        expect(error.retryAfter).to.equal(7);

      expect(error)
        .to.have.property('cause')
        .that.is.instanceOf(ServiceError)
        .and.includes({ code, status: ERRORS[code].status, requestId: 'request-1', retryAfter: 7 });
    });
  }

  for (const code of ['invalid_api_key', 'a_code_of_later', 'constructor', '__proto__']) {
    it(`${code} to a ServiceError with every detail`, async () => {
      const { client } = fakeService(errorJson(418, code));

      const error = await rejectionOf(client(options).listPets());

      expect(error).to.be.instanceOf(ServiceError);
      expect(error).to.include({
        code,
        status: 418,
        message: `Message of ${code}.`,
        requestId: 'request-1',
        retryAfter: undefined,
      });
      expect(isAnimalStoreError(error)).to.equal(false);
    });
  }

  it('invalid_pet to an error with the message of the service', async () => {
    const { message } = new InvalidPetError([
      { field: 'name', message: 'must be short' },
      { field: 'status', message: 'must be one of a, b' },
    ]);
    const { client } = fakeService(
      json(400, JSON.stringify({ code: 'invalid_pet', message, status: 400 })),
    );

    const error = await rejectionOf(client().createPet(bella));

    expect(error).to.be.instanceOf(InvalidPetError).with.property('message', message);
    expect(error).to.have.property('faults').that.deep.equals([]);
    expect(error).to.have.property('stack').that.includes(message);
  });

  it('pet_not_found to an error with the requested id', async () => {
    const { client } = fakeService(errorJson(404, 'pet_not_found'));

    const error = await rejectionOf(client().getPet(2n ** 63n - 1n));

    expect(error).to.be.instanceOf(PetNotFoundError).with.property('petId', '9223372036854775807');
  });

  for (const status of [502, 503, 504]) {
    it(`${status} of a proxy, which has no code, to UnavailableError, which says so`, async () => {
      const { client } = fakeService(
        html(status, { 'Retry-After': '9', 'X-Request-Id': 'request-1' }),
      );

      const error = await rejectionOf(client(options).listPets());

      expect(error).to.be.instanceOf(UnavailableError).with.property('retryAfter', 9);
      expect(error)
        .to.have.property('message')
        .that.matches(RegExp(`^The service is not .*status ${status} without its Error body`));

      const cause = { code: 'unexpected_response', status, requestId: 'request-1' };

      expect(error).to.have.property('cause').that.is.instanceOf(ServiceError).and.includes(cause);
    });
  }

  it('what was no whole response to UnavailableError, with its cause', async () => {
    for (const step of [new TypeError('fetch failed'), broken]) {
      const error = await rejectionOf(fakeService(step).client(options).listPets());

      expect(error).to.be.instanceOf(UnavailableError);
      expect(error).to.have.property('cause').that.is.instanceOf(TypeError);
    }
  });
});

/** A page of animals, and where the next one is. */
const page = (ids: readonly number[], after?: number): Response =>
  json(
    200,
    `[${ids.map((id) => BELLA.replace('"id":1', `"id":${id}`)).join()}]`,
    after === undefined ? {} : { Link: `</v1/pets?limit=2&after=${after}>; rel="next"` },
  );

async function idsOf(client: AnimalStoreClient, query?: PetQuery): Promise<bigint[]> {
  const ids: bigint[] = [];
  for await (const { id } of client.allPets(query)) ids.push(id);
  return ids;
}

const queriesOf = (sent: readonly { readonly url: string }[]): string[] =>
  sent.map(({ url }) => new URL(url).search);

describe('allPets of AnimalStoreClient', () => {
  it('yields every animal of every page, and requests the largest pages', async () => {
    const { client, sent } = fakeService(page([1, 2], 2), page([], 5), page([6]));

    expect(await idsOf(client())).to.deep.equal([1n, 2n, 6n]);
    expect(queriesOf(sent)).to.deep.equal([
      '?limit=100',
      '?limit=100&after=2',
      '?limit=100&after=5',
    ]);
  });

  it('uses the given filter, page size and first id', async () => {
    const { client, sent } = fakeService(page([8, 9], 9), page([10]));

    await idsOf(client(), { status: 'sold', limit: 2, after: 7n });

    expect(queriesOf(sent)).to.deep.equal([
      '?limit=2&status=sold&after=7',
      '?limit=2&status=sold&after=9',
    ]);
  });

  it('goes on from the last animal of a full page whose Link did not arrive', async () => {
    for (const [limit, pages, queries] of [
      [2, [page([1, 2]), page([3, 4]), page([])], ['&after=2', '&after=4']],
      [2, [page([1, 2]), page([3, 4], 4), page([5])], ['&after=2', '&after=4']],
      [1, [page([7]), page([])], ['&after=7']],
    ] as const) {
      const { client, sent } = fakeService(...pages);

      await idsOf(client(), { limit });

      expect(queriesOf(sent)).to.deep.equal(['', ...queries].map((q) => `?limit=${limit}${q}`));
    }
  });

  it('rejects at once when a page makes no progress, as from a wrong cache', async () => {
    for (const [first, again] of [
      [page([1, 2], 2), page([1, 2], 2)],
      [page([1, 2], 2), page([2, 3], 3)],
      [page([1, 2], 2), page([], 2)],
      [page([1, 2]), page([1, 2])],
    ] as const) {
      const { client, sent } = fakeService(first, again, json(500, ''));

      const error = await rejectionOf(idsOf(client(), { limit: 2 }));

      expect(error).to.be.instanceOf(ServiceError).with.property('code', 'unexpected_response');
      expect(String(Object(error).cause)).to.include('after 2');
      expect(sent, 'requests').to.have.length(2);
    }
  });

  it('requests a page only when the one before is used up', async () => {
    const { client, sent } = fakeService(page([1, 2], 2), page([3]));
    const animals = client().allPets();

    expect(sent, 'requests').to.have.length(0);

    await animals.next();
    await animals.next();

    expect(sent, 'requests').to.have.length(1);

    await animals.next();

    expect(sent, 'requests').to.have.length(2);
  });
});
