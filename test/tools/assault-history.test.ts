import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import type { CompleteStore } from '../../src/application/ports/store.js';
import { httpInterface } from '../adapters/http/fixtures.js';
import { inPort, type Fault } from '../broken-adapters/broken-adapters.js';
import {
  comparesFirst,
  comparesStatusAlone,
  writesWholeAnimals,
} from '../broken-adapters/change-faults.js';

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
type Headers = Readonly<Record<string, string>>;
type Send = (
  service: number,
  target: string,
  request: { readonly method?: string; readonly headers?: Headers; readonly body?: string },
) => Promise<object>;

const { findOrder } = (await tool('linear-order')) as {
  findOrder: (calls: readonly object[]) => {
    readonly impossible?: object;
    readonly visited: number;
  };
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
      return {
        begin,
        end,
        kind,
        to,
        from,
        answer: text === '-' ? undefined : Number(text) || text,
      };
    }),
  );

describe('an order of the calls on one animal', () => {
  for (const [title, ...lines] of [
    ['calls at the same time', '3-6 change 200 pending', '4-5 read sold', '7-8 read pending'],
    ['a conflict', '3-6 change 200 pending sold', '4-5 change 409 available sold'],
    ['an unanswered change, late', '3- change - pending', '4-5 read sold', '6-7 read pending'],
    ['an unanswered change that never happened', '3- change - pending', '6-7 read sold'],
    [
      'a change to what is and was',
      '3-9 change 200 sold',
      '4-5 change 200 pending',
      '10-11 read sold',
    ],
    [
      'two fields at the same time',
      '3-6 change 200 /Rex',
      '4-5 change 200 //8',
      '7-8 read sold/Rex/8',
    ],
    ['the animal as it was read', '3-4 change 200 /Rex/7', '5-6 change 200 //8 sold/Rex/7'],
    ['another than was read', '3-4 change 200 /Rex/7', '5-6 change 412 //8 sold/Max/7'],
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
    ['a name is lost', '3-6 change 200 /Rex/7', '4-5 change 200 //8', '7-8 read sold/Max/8'],
    [
      'two changes of what was read',
      '3-4 change 200 /Rex/7',
      '5-8 change 200 /Max sold/Rex/7',
      '6-7 change 200 //8 sold/Rex/7',
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

/** What a store does wrong, by name. */
const FAULTS: Readonly<Record<string, Fault<CompleteStore>>> = {
  'from read before': inPort('changes', comparesFirst),
  'only the status compared': inPort('changes', comparesStatusAlone),
  'a whole animal written': inPort('changes', writesWholeAnimals),
  'removal forgotten': inPort('changes', (changes) => ({
    remove: async (id, from) => id % 2n === 0n || changes.remove(id, from),
  })),
  'short list': inPort('pets', (pets) => ({
    list: async (page) => (await pets.list(page)).slice(page.after ? 1 : 0),
  })),
};

/** Sends requests to the animals in memory, with a fault. Some replies are lost. */
function storeWith(fault: string): Send {
  const random = randomNumbers('1', 'store');
  const store = openMemoryStore();
  const animalStore = createAnimalStore({ ...store, ...FAULTS[fault]?.(store) });
  const settings = { experimental: ['changePet', 'removePet'] } as const;
  const handle = createFetchHandler(httpInterface({ animalStore, settings }));
  return async (_service, target, { headers, ...request }) => {
    const all = { Authorization: 'Bearer any', ...headers };
    const response = await handle(
      new Request(`http://store${target}`, { ...request, headers: all }),
    );
    if (random() < 0.02) throw new Error('the connection is lost');
    const { status } = response;
    return { status, headers: Object.fromEntries(response.headers), body: await response.text() };
  };
}

/** Resolves to the number of unanswered calls, and to how many answers are wrong. */
async function run(fault = '') {
  const history = new AnimalHistory(storeWith(fault), turn);
  const clients = Array.from({ length: 16 }, (_, each) =>
    history.client(randomNumbers('1', `client ${each}`)),
  );
  while (history.counts.calls < 2500) await turn();
  history.over = true;
  await Promise.all(clients);
  await history.end();
  const wrong = history.judge().impossible.length + history.faults.length;
  return { wrong, unanswered: history.counts.unanswered };
}

describe('clients of an animal store, and the record of their calls', () => {
  it('find nothing wrong with a store that loses replies', async () => {
    const { wrong, unanswered } = await run();
    expect(unanswered, 'calls without an answer').to.be.above(25);
    expect(wrong, 'faults found in a sound store').to.equal(0);
  });

  for (const fault of Object.keys(FAULTS)) {
    it(`find a fault: ${fault}`, async () => {
      const { wrong } = await run(fault);
      expect(wrong, 'faults found').to.be.above(0);
    });
  }
});

it('random numbers are the same for the same seed, and differ for another', () => {
  const [one, again, other] = ['1', '1', '2'].map((seed) =>
    Array.from({ length: 3 }, randomNumbers(seed, 'client')),
  );
  expect(one).to.deep.equal(again).and.to.not.deep.equal(other);
});
