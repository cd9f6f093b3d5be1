import { expect } from 'chai';
import { Container } from 'inversify';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import type { AnimalStore } from '../../../src/application/animal-store.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { systemClock, type Clock } from '../../../src/application/ports/clock.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { TOKENS, createContainer } from '../../../src/bootstrap/service/container.js';
import { readSettings } from '../../../src/bootstrap/service/settings.js';
import { add, decorate, every, replace, token } from '../../../src/bootstrap/service/wiring.js';

const [one, two, both] = [
  token<string>('test.one'),
  token<string>('test.two'),
  token<string>('test.both'),
];
const animalStore = (pets: PetRepository, clock: Clock): AnimalStore =>
  createAnimalStore({ pets, clock });

describe('The wiring', () => {
  let container: Container;
  beforeEach(() => {
    container = new Container();
  });

  describe('add', () => {
    it('passes the dependencies in the order in which they are named', () => {
      add(container, one, '1');
      add(container, two, [], () => '2');
      add(container, both, [two, one], (second, first) => second + first);
      expect(container.get(both)).to.equal('21');
    });

    it('makes one value, when it is first needed; binds a function as it is', () => {
      let times = 0;
      add(container, one, [], () => `made ${(times += 1)}`);
      expect(times).to.equal(0);
      expect([container.get(one), container.get(one)]).to.deep.equal(['made 1', 'made 1']);
      const call = token<() => string>('test.call');
      add(container, call, () => 'called');
      expect(container.get(call)()).to.equal('called');
    });

    it('adds to what is bound: every passes all values in the order of binding', () => {
      for (const value of ['a', 'b', 'c']) add(container, one, value);
      add(
        container,
        both,
        [every(one), every(two)],
        (values, none) => values.join('') + none.length,
      );
      expect(container.get(both)).to.equal('abc0');
    });
  });

  it('replace puts a value in the place of all that is bound', () => {
    for (const value of ['a', 'b']) add(container, one, value);
    replace(container, one, 'c');
    add(container, two, 'd');
    replace(container, two, [one], (value) => `${value}!`);
    expect([container.getAll(one), container.get(two)]).to.deep.equal([['c'], 'c!']);
  });

  describe('decorate', () => {
    it('composes: each decorator gets what the one before returned, once', () => {
      let times = 0;
      add(container, one, 'x');
      decorate(container, one, (inner) => `<${inner}>${(times += 1)}`);
      decorate(container, one, (inner) => `[${inner}]`);
      expect([container.get(one), container.get(one)]).to.deep.equal(['[<x>1]', '[<x>1]']);
    });

    it('passes the context, for dependencies, those in the making too', async () => {
      add(container, one, [], async () => 'x');
      add(container, two, [], async () => 'a');
      decorate(container, one, async (inner, context) => inner + (await context.getAsync(two)));
      expect(await container.getAsync(one)).to.equal('xa');
    });
  });

  it('does not compile with a dependency that is swapped, missing or of another type', () => {
    // Inversify accepts all of these: only the compiler refuses them.
    // @ts-expect-error the two are swapped
    add(container, TOKENS.animalStore, [TOKENS.clock, TOKENS.petRepository], animalStore);
    // @ts-expect-error the clock is missing
    add(container, TOKENS.animalStore, [TOKENS.petRepository], animalStore);
    const noClock = [TOKENS.petRepository, TOKENS.authenticator] as const;
    // @ts-expect-error an authenticator is not a clock
    replace(container, TOKENS.animalStore, noClock, animalStore);
    // @ts-expect-error an animal store is not a clock
    add(container, TOKENS.clock, [TOKENS.petRepository, TOKENS.clock], animalStore);
    add(
      container,
      TOKENS.store,
      [every(TOKENS.storeFactory)],
      // @ts-expect-error several factories are not one
      (factory) => factory.open('memory:'),
    );
    // @ts-expect-error a repository is not a clock
    add(container, TOKENS.clock, openMemoryStore().pets);
    // @ts-expect-error a symbol names nothing
    add(container, Symbol.for('animal-store.Clock'), systemClock);
    // @ts-expect-error a decorator of the repository returns a repository
    decorate(container, TOKENS.petRepository, (pets, context) => context.get(TOKENS.clock));
    replace(container, TOKENS.clock, systemClock);
    // @ts-expect-error a clock is not a repository
    const pets: PetRepository = container.get(TOKENS.clock);
    expect(pets).to.equal(systemClock);
  });

  it('recognises in the service a create that was made with the default digest', async () => {
    const service = await createContainer(readSettings({ STORE_URL: 'memory:' }));
    const pets = await service.getAsync(TOKENS.petRepository);
    const pet = { name: 'Amélie 🐕', categoryId: 7 };
    const call = { idempotencyKey: { scope: 'a scope', key: 'a key' } };
    const first = await createAnimalStore({ pets }).createPet(pet, call);
    const again = await (await service.getAsync(TOKENS.animalStore)).createPet(pet, call);
    expect(again).to.deep.equal({ pet: first.pet, replayed: true });
  });

  it('has one token for a name, so that adapters built on another copy of the package fit', () => {
    expect(token('Clock')).to.equal(TOKENS.clock);
    expect(new Set(Object.values(TOKENS))).to.have.property('size', Object.keys(TOKENS).length);
  });
});
