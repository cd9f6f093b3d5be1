import { expect } from 'chai';
import type { DeprecationNotice } from '../../../../src/adapters/http/client/deprecations.js';
import { OPERATIONS, deprecationHeaders } from '../../../../src/adapters/http/operations.js';
import { rejectionOf } from '../../../contract/rejection.js';
import { BASE_URL, BELLA, errorJson, failingHook, fakeService, json, type Step } from './fake-service.js';

const headers = deprecationHeaders(
  OPERATIONS.getPet.deprecation,
  new Date('2026-11-20T00:00:00Z'),
  new URL(BASE_URL).pathname,
);

function watched(...steps: readonly Step[]) {
  const notices: DeprecationNotice[] = [];
  const { client } = fakeService(...steps);
  return { notices, store: client({ onDeprecated: (notice) => notices.push(notice) }) };
}

describe('AnimalStoreClient tells of a deprecated operation', () => {
  it('by its name, with its dates and its successor', async () => {
    const { notices, store } = watched(json(200, BELLA, headers));
    await store.getPet(1n);
    expect(notices).to.deep.equal([
      {
        operation: 'getPet',
        since: new Date('2026-11-20T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: `${BASE_URL}/pets?status=available`,
      },
    ]);
  });

  it('once, however often it is used, and once for each client', async () => {
    const { notices, store } = watched(json(200, BELLA, headers));
    for (let count = 0; count < 3; count += 1) await store.getPet(1n);
    expect(notices).to.have.length(1);
  });

  it('when the answer is an error, too', async () => {
    const { notices, store } = watched(errorJson(404, 'pet_not_found', headers));
    await rejectionOf(store.getPet(1n));
    expect(notices).to.have.length(1);
  });

  it('whichever it is, and with what can be read', async () => {
    const { notices, store } = watched(json(200, '[]', { Deprecation: 'true', Sunset: 'soon', Link: '<x' }));
    await store.listPets();
    expect(notices).to.deep.equal([
      { operation: 'listPets', since: undefined, sunset: undefined, successor: undefined },
    ]);
  });

  for (const [text, since] of [
    ['@0', new Date(0)],
    ['@-1', new Date(-1000)],
    ['@1795132800;by="law"', new Date('2026-11-20T00:00:00Z')],
    ['@999999999999999', undefined],
    ['1795132800', undefined],
    ['@1.5', undefined],
  ] as const) {
    it(`reads ${text} as ${since?.toISOString() ?? 'no date'}`, async () => {
      const { notices, store } = watched(json(200, '[]', { Deprecation: text }));
      await store.listPets();
      expect(notices[0]?.since).to.deep.equal(since);
    });
  }

  it('of none that is not, and of nothing when nobody asked', async () => {
    const { notices, store } = watched(json(200, '[]'));
    await store.listPets();
    expect(notices).to.deep.equal([]);
    const { client } = fakeService(json(200, BELLA, headers));
    await client().getPet(1n);
  });

  it('and answers though the one who is told fails', async () => {
    const { client } = fakeService(json(200, BELLA, headers));
    expect((await client({ onDeprecated: failingHook }).getPet(1n)).id).to.equal(1n);
  });
});
