import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';

// Computed, for the tools are no part of what the compiler checks.
const tool = (name: string): Promise<unknown> =>
  import(new URL(`../../../tools/assault/${name}.mjs`, import.meta.url).href);

interface Run {
  readonly counts: { readonly calls: number; readonly unanswered: number };
  readonly faults: readonly string[];
  over: boolean;
  client(random: () => number): Promise<void>;
  end(): Promise<void>;
  judge(): { readonly impossible: readonly unknown[] };
}
type Send = (service: number, target: string, request: Request) => Promise<object>;
type Request = {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

const { findOrder } = (await tool('linear-order')) as {
  findOrder: (calls: readonly object[]) => { readonly impossible?: object; readonly visited: number };
};
const { AnimalHistory } = (await tool('animal-history')) as {
  AnimalHistory: new (send: Send, delay: () => Promise<void>) => Run;
};
const { randomNumbers } = (await tool('random-numbers')) as {
  randomNumbers: (seed: string, name: string) => () => number;
};

/** `begin-end kind answer to from`; an unanswered call has `-` for its answer. The first call creates the animal. */
const search = (...lines: string[]) =>
  findOrder(
    ['1-2 create created sold', ...lines].map((line) => {
      const [range = '', kind, text = '', to, from] = line.split(' ');
      const [begin, end] = range.split('-').map(Number);
      return { begin, end, kind, to, from, answer: text === '-' ? undefined : Number(text) || text };
    }),
  );

describe('an order of the calls on one animal', () => {
  for (const [title, ...lines] of [
    ['calls at the same time', '3-6 change 200 pending', '4-5 read sold', '7-8 read pending'],
    ['a conflict', '3-6 change 200 pending sold', '4-5 change 409 available sold'],
    ['an unanswered change, late', '3- change - pending', '4-5 read sold', '6-7 read pending'],
    ['an unanswered change that never happened', '3- change - pending', '6-7 read sold'],
    ['a change to what is and was', '3-9 change 200 sold', '4-5 change 200 pending', '10-11 read sold'],
    ['a retry after a removal', '3-4 remove 204', '5-6 create replayed sold', '7-8 read 404'],
  ] as const) {
    it(`is found: ${title}`, () => expect(search(...lines).impossible).to.equal(undefined));
  }

  for (const [title, ...lines] of [
    ['a change is not seen', '3-4 change 200 pending', '5-6 read sold'],
    ['a change is undone', '3-8 change 200 pending', '4-5 read pending', '6-7 read sold'],
    ['two changes from one status', '3-6 change 200 pending sold', '4-5 change 200 available sold'],
    ['a change conflicts with itself', '3-4 change 409 pending sold', '5-6 read pending'],
    [
      'one change, twice',
      '3- change - pending',
      '4-5 read pending',
      '6-7 change 200 sold',
      '8-9 read pending',
    ],
    ['two removals', '3-5 remove 204', '4-6 remove 204'],
    ['a retry undoes a removal', '3-4 remove 204', '5-6 create replayed sold', '7-8 read sold'],
    ['two first creates', '3-4 create created sold'],
    ['the animal is lost', '3-4 read 404'],
    ['a list without the animal', '3-4 list not-listed sold sold'],
    ['a list with a removed animal', '3-4 remove 204', '5-6 list sold'],
  ] as const) {
    it(`is not found: ${title}`, () => expect(search(...lines).impossible).to.be.an('object'));
  }

  it('is found in few steps among 60 unanswered calls', () => {
    const unanswered = Array.from(
      { length: 60 },
      (_, each) => `3- change - ${each % 2 ? 'pending' : 'available'}`,
    );
    expect(
      search(...unanswered, '4-5 read pending', '6-7 read available', '8-9 read pending').visited,
    ).to.be.below(100);
  });
});

type Fault = '' | 'from read before' | 'removal undone' | 'conflict with itself' | 'id again' | 'short list';

const ok = (pet: object, status = 200) => ({ status, headers: {}, body: JSON.stringify(pet) });

/** The five calls on animals in memory, with a fault. Some replies are lost. */
function storeWith(fault: Fault): Send {
  const random = randomNumbers('1', 'store');
  const pets = new Map<number, { id: number; name: string; categoryId: number; status: string }>();
  const created = new Map<string, string>();
  let lastId = 0;

  function create(key: string, animal: { name: string; categoryId: number; status: string }): object {
    const body = created.get(key);
    if (body !== undefined) {
      const pet = JSON.parse(body);
      if (fault === 'removal undone' && !pets.has(pet.id)) pets.set(pet.id, pet);
      return { status: 201, headers: { 'idempotency-replayed': 'true' }, body };
    }
    lastId = (fault === 'id again' ? Math.max(0, ...pets.keys()) : lastId) + 1;
    const pet = { id: lastId, ...animal };
    pets.set(pet.id, pet);
    created.set(key, JSON.stringify(pet));
    return ok(pet, 201);
  }

  function list(query: URLSearchParams): object {
    const [after, limit, status] = ['after', 'limit', 'status'].map((name) => query.get(name));
    const fits = (pet: { id: number; status: string }) =>
      pet.id > Number(after) && (status ?? pet.status) === pet.status;
    const rest = [...pets.values()].sort((one, other) => one.id - other.id).filter(fits);
    const page = rest.slice(fault === 'short list' && after !== '0' ? 1 : 0, Number(limit));
    return { ...ok(page), headers: { link: rest.length > Number(limit) ? '</>; rel="next"' : undefined } };
  }

  async function answer({ pathname, searchParams }: URL, { method, headers, body = '{}' }: Request) {
    const id = Number(pathname.split('/')[3]);
    if (method === 'POST') return create(headers?.['Idempotency-Key'] ?? '', JSON.parse(body));
    if (Number.isNaN(id)) return list(searchParams);
    const pet = pets.get(id);
    if (pet === undefined) return { status: 404 };
    if (method === 'DELETE') pets.delete(id);
    if (method !== 'PATCH') return ok(pet, method === 'DELETE' ? 204 : 200);
    const from = searchParams.get('from') ?? pet.status;
    const isAllowed = pet.status === from;
    if (fault === 'from read before') await turn();
    if (!isAllowed) return { status: 409 };
    Object.assign(pet, JSON.parse(body));
    return fault === 'conflict with itself' && from !== pet.status && random() < 0.05
      ? { status: 409 }
      : ok(pet);
  }

  return async (_service, target, request) => {
    await turn();
    const response = await answer(new URL(target, 'http://store'), request);
    if (random() < 0.02) throw new Error('the connection is lost');
    await turn();
    return response;
  };
}

/** Resolves to the number of unanswered calls, and to how many answers are wrong. */
async function run(fault: Fault) {
  const history = new AnimalHistory(storeWith(fault), turn);
  const clients = Array.from({ length: 16 }, (_, each) =>
    history.client(randomNumbers('1', `client ${each}`)),
  );
  while (history.counts.calls < 5000) await turn();
  history.over = true;
  await Promise.all(clients);
  await history.end();
  const wrong = history.judge().impossible.length + history.faults.length;
  return { wrong, unanswered: history.counts.unanswered };
}

describe('clients of an animal store, and the record of their calls', () => {
  it('find nothing wrong with a store that loses replies', async () => {
    const { wrong, unanswered } = await run('');
    expect(unanswered).to.be.above(50);
    expect(wrong).to.equal(0);
  });

  for (const fault of [
    'from read before',
    'removal undone',
    'conflict with itself',
    'id again',
    'short list',
  ] as const) {
    it(`find a fault: ${fault}`, async () => expect((await run(fault)).wrong).to.be.above(0));
  }
});

describe('random numbers of a seed', () => {
  const [one, again, other] = ['1', '1', '2'].map((seed) =>
    Array.from({ length: 3 }, randomNumbers(seed, 'client')),
  );

  it('are the same for the same seed', () => expect(one).to.deep.equal(again));

  it('differ for another seed', () => expect(one).to.not.deep.equal(other));
});
