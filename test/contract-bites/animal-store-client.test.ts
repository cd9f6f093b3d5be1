import { assert } from 'chai';
import type { Fetch } from '../../src/adapters/http/client/client-options.js';
import { clientSubject } from '../adapters/http/client/client-subject.js';
import { animalStoreContract, type AnimalStoreSubject } from '../contract/animal-store-contract.js';
import { runContract } from '../contract/run-contract.js';

interface Bite {
  readonly that: string;
  readonly caughtBy: string;
  readonly open: () => Promise<AnimalStoreSubject>;
}

/** A client with something wrong between it and the service. */
const over = (that: string, caughtBy: string, fetch: Fetch): Bite => ({
  that,
  caughtBy,
  open: clientSubject('memory', { fetch }),
});

/** Changes each answer. */
const answering =
  (change: (body: string, response: Response) => string | Response): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const changed = change(await response.text(), response);
    return changed instanceof Response ? changed : new Response(changed, response);
  };

/** Answers without one of their headers. */
const withoutHeader = (name: string): Fetch =>
  answering((body, response) => {
    const headers = new Headers(response.headers);
    headers.delete(name);
    return new Response(body, { status: response.status, headers });
  });

/** Requests without one of their headers. */
const sendingWithout =
  (name: string): Fetch =>
  (url, init) => {
    const headers = new Headers(init.headers);
    headers.delete(name);
    return fetch(url, { ...init, headers });
  };

const throughDoubles = (text: string): string => JSON.stringify(JSON.parse(text));

const BITES: readonly Bite[] = [
  over(
    'reads numbers as doubles',
    'creates an animal with a categoryId of 9007199254740993, to the digit',
    answering(throughDoubles),
  ),
  over(
    'sends numbers as doubles',
    'creates an animal with a categoryId of 9007199254740993, to the digit',
    (url, init) =>
      fetch(url, typeof init.body === 'string' ? { ...init, body: throughDoubles(init.body) } : init),
  ),
  over(
    'sees no link to the next page',
    'fills every page but the last, which has no next: all',
    withoutHeader('link'),
  ),
  over(
    'leaves the filter out',
    'meets each animal exactly once, page by page, while others are created: those sold',
    (url, init) => fetch(url.replace(/status=\w+&?/, ''), init),
  ),
  over(
    'trims a cursor',
    'refuses a cursor with any one character changed, left out, doubled or put in',
    (url, init) => fetch(url.replace(/(?:\+|%20)*$/, ''), init),
  ),
  over(
    'sends no idempotency key',
    'creates once for a request token and replays the animal as it was created',
    sendingWithout('idempotency-key'),
  ),
  over(
    'does not tell a replay from a creation',
    'creates once for a request token and replays the animal as it was created',
    withoutHeader('idempotency-replayed'),
  ),
  over('folds the case of request tokens', 'keeps another request token apart', (url, init) => {
    const headers = new Headers(init.headers);
    const key = headers.get('idempotency-key');
    if (key !== null) headers.set('idempotency-key', key.toLowerCase());
    return fetch(url, { ...init, headers });
  }),
  over(
    'loses the codes of errors',
    'finds no animal with the bigint 0: pet_not_found',
    answering((body) => body.replace('"code"', '"kode"')),
  ),
  {
    that: 'forgets the signal',
    caughtBy: 'rejects with the reason of a signal that is aborted already, and stores nothing: listPets',
    async open() {
      const { store, ...subject } = await clientSubject('memory')();
      return {
        ...subject,
        store: {
          listPets: (query) => store.listPets(query),
          createPet: (pet, call) => store.createPet(pet, call),
          getPet: (id) => store.getPet(id),
        },
      };
    },
  },
];

/** What becomes of the case with this name; nothing if there is none. */
async function outcomesOf(caseName: string, open: () => Promise<AnimalStoreSubject>): Promise<string[]> {
  const results = await runContract(animalStoreContract, open, { only: (name) => name === caseName });
  return results.map(({ outcome }) => outcome);
}

describe('the contract of AnimalStore, over HTTP', function () {
  this.timeout(60_000);

  for (const { that, caughtBy, open } of BITES) {
    it(`catches a client that ${that}`, async () => {
      assert.deepEqual(await outcomesOf(caughtBy, clientSubject('memory')), ['passed']);
      assert.deepEqual(await outcomesOf(caughtBy, open), ['failed']);
    });
  }
});
