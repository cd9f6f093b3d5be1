// Clients that create, change, remove, read and list animals, the record of their calls, and what is wrong with it.
import { changed, findOrder } from './linear-order.mjs';

const STATUSES = ['available', 'pending', 'sold'];
/** What changes change: see linear-order.mjs. A name begins with the first one of its animal, for whoever reads it. */
const CHANGES = [
  ...STATUSES.map((status) => () => status),
  ...['', '.rex', '.max'].map((nickname) => (name) => `/${name}${nickname}`),
  ...[7, 8, 9].map((categoryId) => () => `//${categoryId}`),
  (name) => `sold/${name}.rex`,
  (name) => `pending/${name}.max/9`,
];
const PLACES = 200; // animals at a time
const POPULAR = 8; // half of the calls go to so few of them
const AFTERLIFE = 20; // calls on a removed animal, before another takes its place
const PAUSE = 50; // after a request that failed, in milliseconds

const stateOf = ({ status, name, categoryId }) => `${status}/${name}/${categoryId}`;
const pick = (among, draw) => among[Math.floor(draw * among.length)];

/**
 * `send(service, target, request)` sends a request to service 0 or 1. It resolves to the response with its body, and
 * rejects if there is none. `delay(milliseconds)` resolves later.
 */
export class AnimalHistory {
  animals = new Map(); // by name, which is also the idempotency key
  counts = { calls: 0, unanswered: 0, pages: 0 };
  faults = []; // what is wrong without a look at the order of calls
  over = false;
  #send;
  #delay;
  #names = new Map(); // by id
  #clock = 0; // counts the begins and ends of calls, so that no two happen at the same time
  #places = Array.from({ length: PLACES }, () => this.#newAnimal());

  constructor(send, delay) {
    this.#send = send;
    this.#delay = delay;
  }

  #newAnimal() {
    const number = this.animals.size;
    const animal = {
      name: `animal-${number}`,
      state: `${STATUSES[number % 3]}/animal-${number}/7`,
      calls: [],
      tag: undefined, // the last state that was read, with its ETag
      left: Infinity,
    };
    this.animals.set(animal.name, animal);
    return animal;
  }

  /** Sends one request after another until the run is over. Each costs as many random numbers, whatever was answered. */
  async client(random) {
    while (!this.over) {
      const [popular, where, what, first, second, third] = Array.from({ length: 6 }, random);
      const place = Math.floor(where * (popular < 0.5 ? POPULAR : PLACES));
      const animal = this.#places[place];
      const service = Math.floor(first * 2);
      const change = { kind: 'change', to: pick(CHANGES, second)(animal.name) };
      if (what < 0.03)
        await this.traverse(
          service,
          1 + Math.floor(second * 100),
          pick([undefined, ...STATUSES], third),
        );
      else if (what < 0.13 || animal.id === undefined)
        await this.call(animal, { kind: 'create' }, service);
      else if (what < 0.4) await this.call(animal, { kind: 'read' }, service);
      else if (what < 0.65) await this.call(animal, change, service);
      else if (what < 0.8 && animal.tag)
        await this.call(
          animal,
          { ...change, from: animal.tag.state, tag: animal.tag.tag },
          service,
        );
      else if (what < 0.95)
        await this.call(animal, { ...change, from: pick(STATUSES, third) }, service);
      else await this.call(animal, { kind: 'remove' }, service);
      if (animal.left <= 0 && this.#places[place] === animal)
        this.#places[place] = this.#newAnimal();
    }
  }

  /** Sends a request for one animal, and records it. Resolves to whether it was answered. */
  async call(animal, operation, service) {
    const call = { to: animal.state, ...operation, service, begin: this.#tick() };
    const { status, headers, body } = await this.#request(service, requestOf(animal, operation));
    if (status === 'not sent' || (status === 409 && call.kind === 'create')) return false; // it did nothing
    animal.calls.push(call);
    if (status === 'unanswered') return false;
    call.end = this.#tick();
    call.answer = status;
    if (status === 201) {
      call.answer = headers['idempotency-replayed'] === 'true' ? 'replayed' : 'created';
      animal.body ??= body;
      if (animal.body !== body)
        this.faults.push(`retry of ${animal.name}: ${body} after ${animal.body}`);
    }
    if (status === 200 || status === 201) {
      const pet = JSON.parse(body);
      const state = stateOf(pet);
      if (call.kind === 'read') call.answer = state;
      else if (changed(state, call.to) !== state)
        this.faults.push(`${call.kind} to ${call.to}: ${body}`);
      this.#see(animal, pet);
      if (status === 200) animal.tag = { state, tag: headers.etag };
    }
    if (status === 204 || status === 404) animal.left = Math.min(animal.left, AFTERLIFE);
    animal.left -= 1;
    return true;
  }

  /** Reads the whole list, page by page from the two services in turn. Resolves to whether it came to the end. */
  async traverse(service, limit, status, expected = this.#places) {
    for (let after = 0, more = true; more; service = 1 - service) {
      const call = { kind: 'list', from: status, service, begin: this.#tick() };
      const query = new URLSearchParams({ limit, after, ...(status && { status }) });
      const response = await this.#request(service, [`/v1/pets?${query}`, {}]);
      if (response.status !== 200) return false;
      call.end = this.#tick();
      this.counts.pages += 1;
      more = response.headers.link?.includes('rel="next"') ?? false;
      const pets = JSON.parse(response.body);
      const seen = new Set();
      const begin = after;
      for (const pet of pets) {
        const animal = this.animals.get(nameOf(pet));
        if (pet.id <= after || !animal)
          this.faults.push(`after ${after} in a list: ${JSON.stringify(pet)}`);
        after = pet.id;
        if (!animal) continue;
        this.#see(animal, pet);
        seen.add(animal);
        animal.calls.push({ ...call, answer: stateOf(pet) });
      }
      const end = more ? after : Infinity;
      for (const animal of expected) {
        if (animal.id > begin && animal.id <= end && !seen.has(animal))
          animal.calls.push({ ...call, answer: 'not-listed' });
      }
    }
    return true;
  }

  /** Creates every animal again, reads it and lists all, from each service, until that succeeds. */
  async end() {
    this.over = true;
    const persist = async (attempt) => {
      for (let left = 200; !(await attempt()); left -= 1) {
        if (left === 0) throw new Error('no service answers any more');
        await this.#delay(PAUSE);
      }
    };
    for (const service of [0, 1]) {
      for (const animal of this.animals.values()) {
        await persist(() => this.call(animal, { kind: 'create' }, service));
        await persist(() => this.call(animal, { kind: 'read' }, service));
      }
      await persist(() => this.traverse(service, 100, undefined, this.animals.values()));
    }
  }

  /** Searches an order for the calls on each animal. Returns those without one, each with the call that it fails at. */
  judge() {
    const found = { impossible: [], visited: 0 };
    for (const { name, calls } of this.animals.values()) {
      const { impossible, visited } = findOrder(calls);
      found.visited += visited;
      if (impossible) found.impossible.push({ name, calls, call: impossible });
    }
    return found;
  }

  #tick() {
    this.#clock += 1;
    return this.#clock;
  }

  async #request(service, [target, request]) {
    const response = await this.#send(service, target, request).catch((error) => ({ error }));
    this.counts.calls += 1;
    if (
      response.status < 500 &&
      (response.status < 400 || [404, 409, 412].includes(response.status))
    )
      return response;
    if (response.status !== undefined && response.status !== 503)
      this.faults.push(`${request.method ?? 'GET'} ${target}: ${response.status} ${response.body}`);
    await this.#delay(PAUSE);
    if (response.error?.code === 'ECONNREFUSED') return { status: 'not sent' };
    this.counts.unanswered += 1;
    return { status: 'unanswered' };
  }

  #see(animal, pet) {
    const { id, name } = pet;
    animal.id ??= id;
    const owner = this.#names.get(id) ?? animal.name;
    this.#names.set(id, owner);
    if (animal.id !== id || owner !== animal.name || nameOf(pet) !== animal.name)
      this.faults.push(
        `${animal.name} has the id ${animal.id}: ${id} is ${name}, and was ${owner}`,
      );
  }
}

/** The target and the request of an operation. */
function requestOf({ name, state, id }, { kind, to, from, tag }) {
  const json = { 'Content-Type': 'application/json' };
  if (kind === 'create') {
    const body = JSON.stringify(fieldsOf(state));
    return ['/v1/pets', { method: 'POST', headers: { ...json, 'Idempotency-Key': name }, body }];
  }
  const target = `/v1/pets/${id}`;
  if (kind === 'read') return [target, {}];
  if (kind === 'remove') return [target, { method: 'DELETE' }];
  const headers = tag ? { ...json, 'If-Match': tag } : json;
  const request = { method: 'PATCH', headers, body: JSON.stringify(fieldsOf(to)) };
  return [from && !tag ? `${target}?from=${from}` : target, request];
}

/** The members of a body: those that the state has. */
function fieldsOf(state) {
  const [status, name, categoryId] = state.split('/');
  return {
    ...(status && { status }),
    ...(name && { name }),
    ...(categoryId && { categoryId: Number(categoryId) }),
  };
}

/** The first name of an animal, whatever its name is now. */
const nameOf = ({ name }) => name.split('.')[0];
