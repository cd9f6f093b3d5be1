import { expect } from 'chai';
import { HttpInterface } from '../../../src/adapters/http/http-interface.js';
import type { HttpSettings } from '../../../src/adapters/http/http-settings.js';
import { Readiness } from '../../../src/adapters/http/routes/readiness.js';
import { MemoryPetRepository } from '../../../src/adapters/memory/memory-pet-repository.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import type { DeprecatedCall } from '../../../src/application/deprecated-call-counter.js';
import type { Authenticator } from '../../../src/application/ports/authenticator.js';
import { requestWith } from './request-with.js';

/** Keys are good that begin with `good`; only those that begin with `good-reader` may read. */
const authenticator: Authenticator = {
  authenticate: async (credential) =>
    credential.startsWith('good')
      ? {
          ok: true,
          principal: {
            keyId: `id of ${credential}`,
            scopes: new Set(credential.startsWith('good-reader') ? ['pets:read'] : []),
          },
        }
      : { ok: false, reason: 'unknown' },
};

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string;
  readonly petId?: string;
  readonly settings?: Partial<HttpSettings>;
}

/** The status of a request, and the calls that were told of. */
async function ask({
  method = 'GET',
  path = '/v1/pets/{petId}',
  key = 'good-reader',
  petId = '1',
  settings = {},
}: Asked): Promise<readonly [status: number, ...DeprecatedCall[]]> {
  const pets = new MemoryPetRepository();
  await pets.add({ name: 'Bella', categoryId: 1n, status: 'sold' });
  const calls: DeprecatedCall[] = [];
  const http = new HttpInterface({
    store: createAnimalStore({ pets }),
    authenticator,
    readiness: new Readiness(async () => {}),
    settings,
    onDeprecatedCall: (call) => void calls.push(call),
  });
  const route = http.routes.find((candidate) => candidate.path === path);
  const headers: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` };
  const request = requestWith(headers, { method, path: path.replace('{petId}', petId) });
  const { status } = await http.answer(request, route, { petId });
  return [status, ...calls];
}

const TOLD: DeprecatedCall = {
  operationId: 'getPet',
  keyId: 'id of good-reader',
  sunset: new Date('2030-12-05T00:00:00Z'),
};

describe('A call of a deprecated operation is told of', () => {
  it('when it succeeds', async () => {
    expect(await ask({})).to.deep.equal([200, TOLD]);
  });

  it('by the method HEAD too', async () => {
    expect(await ask({ method: 'HEAD' })).to.deep.equal([200, TOLD]);
  });

  it('when no animal has the id, or it is none', async () => {
    expect(await ask({ petId: '2' })).to.deep.equal([404, TOLD]);
    expect(await ask({ petId: 'abc' })).to.deep.equal([404, TOLD]);
  });

  it('when the operation was removed: its callers matter most', async () => {
    expect(await ask({ settings: { getPet: 'off' } })).to.deep.equal([410, TOLD]);
  });

  it('when the key lacks the scope', async () => {
    expect(await ask({ key: 'good' })).to.deep.equal([403, { ...TOLD, keyId: 'id of good' }]);
  });
});

describe('No call of a deprecated operation is told of', () => {
  const OTHERS: Readonly<Record<string, readonly [asked: Asked, status: number]>> = {
    'without a key': [{ key: '' }, 401],
    'with a key that is not good: nobody can be named': [{ key: 'bad' }, 401],
    'when the service is too busy to look at the key': [{ settings: { maxInFlight: 0 } }, 503],
    'at another method on its path, which calls nothing': [{ method: 'DELETE' }, 405],
    'at OPTIONS': [{ method: 'OPTIONS' }, 204],
    'at an operation that is not deprecated': [{ path: '/v1/pets' }, 200],
    'at a path that nothing is served at': [{ path: '/v1/nothing' }, 404],
    'at a health check': [{ path: '/livez' }, 200],
  };
  for (const [when, [asked, status]] of Object.entries(OTHERS)) {
    it(when, async () => {
      expect(await ask(asked)).to.deep.equal([status]);
    });
  }
});
