// The animal store as a Worker, set up as a check wants it: SETUP is JSON.
import { env } from 'cloudflare:workers';
import { IdempotencyConflictError, UnavailableError, createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';
import { HttpInterface, Readiness } from 'animal-store/http';
import { openMemoryStore } from 'animal-store/memory';

const dated = (name, value) => (name === 'deprecatedSince' ? new Date(value) : value);
const { settings, store, step, docs, keys } = JSON.parse(env.SETUP, dated);

/** What the store does in the situations of the contract. */
const FAULTS = {
  unreachable: () => new UnavailableError('a secret of the inside', { retryAfter: 7 }),
  faulty: () => new TypeError('a secret of the inside'),
  undecided: () => new IdempotencyConflictError({ retryAfter: 3 }),
  throws: () => new TypeError('the disk is gone'),
};

async function fails() {
  if (store === 'stuck') await new Promise(() => {});
  throw FAULTS[store]();
}

function ailing({ pets, changes }) {
  const call = { value: fails };
  return {
    pets: Object.create(pets, { add: call, findById: call, list: call }),
    changes: Object.create(changes, { change: call, remove: call }),
    check: fails,
  };
}

const steps = {
  slow: () => new Promise((resolve) => setTimeout(resolve, 20)),
  parsed: (request) => (request.method === 'POST' ? request.json() : undefined),
};

/** The Worker with the authenticator that is made of these keys. */
export function workerWith(authenticatorOf) {
  const opened = openMemoryStore();
  const { pets, changes, check } = store ? ailing(opened) : opened;
  const http = new HttpInterface({
    animalStore: createAnimalStore({ pets, changes }),
    authenticator: authenticatorOf(keys),
    readiness: new Readiness(check),
    settings,
    log: { responded: ({ error }) => void (error && console.log(`fault ${error.message}`)) },
    docs,
  });
  const animals = createFetchHandler(http);
  return {
    async fetch(request) {
      await steps[step]?.(request);
      return animals(request);
    },
  };
}
