import { expect } from 'chai';
import type { AnimalStoreClient } from '../../../../src/adapters/http/client/animal-store-client.js';
import type { PetQuery } from '../../../../src/application/animal-store.js';
import { BELLA, fakeService, json } from './fake-service.js';
import { useIdleTime } from './idle-time.js';

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
  useIdleTime();

  it('yields every animal of every page, and requests the largest pages', async () => {
    const { client, sent } = fakeService(page([1, 2], 2), page([], 5), page([6]));
    expect(await idsOf(client())).to.deep.equal([1n, 2n, 6n]);
    expect(queriesOf(sent)).to.deep.equal(['?limit=100', '?limit=100&after=2', '?limit=100&after=5']);
  });

  it('uses the given filter, page size and first id', async () => {
    const { client, sent } = fakeService(page([8, 9], 9), page([10]));
    await idsOf(client(), { status: 'sold', limit: 2, after: 7n });
    expect(queriesOf(sent)).to.deep.equal(['?limit=2&status=sold&after=7', '?limit=2&status=sold&after=9']);
  });

  it('requests a page only when the one before is used up', async () => {
    const { client, sent } = fakeService(page([1, 2], 2), page([3]));
    const animals = client().allPets();
    expect(sent).to.have.length(0);
    await animals.next();
    await animals.next();
    expect(sent).to.have.length(1);
    await animals.next();
    expect(sent).to.have.length(2);
  });
});
