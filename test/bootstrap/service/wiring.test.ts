import { expect } from 'chai';
import { Container } from 'inversify';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { systemClock } from '../../../src/application/ports/clock.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { createContainer } from '../../../src/bootstrap/service/container.js';
import { readSettings } from '../../../src/bootstrap/service/settings.js';
import { TOKENS, token, wiring, type Wiring } from '../../../src/bootstrap/service/wiring.js';

const one = token<string>('test.one');
const two = token<string>('test.two');

describe('The wiring', () => {
  let container: Container;
  let to: Wiring;
  beforeEach(() => {
    container = new Container();
    to = wiring(container);
  });

  describe('bind and bindFrom', () => {
    it('make one value, when it is first needed; bind a function as it is', () => {
      let times = 0;
      to.bindFrom(one, () => {
        times += 1;
        return `made ${times}`;
      });

      expect(times, 'times made before it was needed').to.equal(0);
      expect([container.get(one), container.get(one)]).to.deep.equal(['made 1', 'made 1']);

      const call = token<() => string>('test.call');
      to.bind(call, () => 'called');

      expect(container.get(call)()).to.equal('called');
    });

    it('bind beside what is bound: the context has all values in the order of binding', () => {
      for (const value of ['a', 'b', 'c']) to.bind(one, value);
      to.bindFrom(two, (context) => context.getAll(one).join(''));

      expect(container.get(two)).to.equal('abc');
    });
  });

  it('refuse a token that does not exist, as a misspelled one', () => {
    const { petRepositry: none } = TOKENS as unknown as { petRepositry: typeof one };

    for (const call of [
      () => to.bind(none, 'a'),
      () => to.bindFrom(none, () => 'a'),
      () => to.replace(none, 'a'),
      () => to.replaceFrom(none, () => 'a'),
      () => to.decorate(none, (inner) => inner),
    ])
      expect(call).to.throw(TypeError, 'There is no such token. TOKENS has settings, clock, ');
  });

  it('replace and replaceFrom put a value in the place of all that is bound', () => {
    for (const value of ['a', 'b']) to.bind(one, value);
    to.replace(one, 'c');
    to.bind(two, 'd');
    to.replaceFrom(two, (context) => `${context.get(one)}!`);

    expect([container.getAll(one), container.get(two)]).to.deep.equal([['c'], 'c!']);
  });

  describe('decorate', () => {
    it('composes: each decorator gets what the one before returned, once', () => {
      let times = 0;
      to.bind(one, 'x');
      to.decorate(one, (inner) => {
        times += 1;
        return `<${inner}>${times}`;
      });
      to.decorate(one, (inner) => `[${inner}]`);

      expect([container.get(one), container.get(one)]).to.deep.equal(['[<x>1]', '[<x>1]']);
    });

    it('passes the context, for dependencies, those in the making too', async () => {
      to.bindFrom(one, async () => 'x');
      to.bindFrom(two, async () => 'a');
      to.decorate(one, async (inner, context) => inner + (await context.getAsync(two)));

      expect(await container.getAsync(one)).to.equal('xa');
    });
  });

  it('does not compile with something else in the place of what a token names', () => {
    // Inversify accepts all of these: only the compiler refuses them.
    // @ts-expect-error a clock is not an animal store
    to.bindFrom(TOKENS.animalStore, (context) => context.get(TOKENS.clock));
    // @ts-expect-error a repository is not a clock
    to.bind(TOKENS.clock, openMemoryStore().pets);
    // @ts-expect-error a symbol names nothing
    to.bind(Symbol.for('animal-store.Clock'), systemClock);
    // @ts-expect-error a decorator of the repository returns a repository
    to.decorate(TOKENS.petRepository, (pets, context) => context.get(TOKENS.clock));
    to.replace(TOKENS.clock, systemClock);
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
