import { expect } from 'chai';
import { Container, ContainerModule, type ContainerModuleLoadOptions } from 'inversify';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import type { AnimalStore } from '../../src/application/animal-store.js';
import { systemClock, type Clock } from '../../src/application/ports/clock.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { every, provide, provideValue } from '../../src/bootstrap/provide.js';
import { TOKENS, token } from '../../src/bootstrap/tokens.js';

/** A container with one module. */
async function loaded(load: (options: ContainerModuleLoadOptions) => void): Promise<Container> {
  const container = new Container();
  await container.loadAsync(new ContainerModule(load));
  return container;
}

const animalStore = (pets: PetRepository, clock: Clock): AnimalStore => createAnimalStore({ pets, clock });

describe('provide', () => {
  it('hands over the dependencies in the order in which they are named', async () => {
    const [one, two, both] = [
      token<string>('test.one'),
      token<string>('test.two'),
      token<string>('test.both'),
    ];
    const container = await loaded((options) => {
      provideValue(options, one, '1');
      provide(options, two, [], () => '2');
      provide(options, both, [two, one], (second, first) => second + first);
    });
    expect(container.get(both)).to.equal('21');
  });

  it('makes one value only, when it is first asked for', async () => {
    const made = token<object>('test.made');
    let times = 0;
    const container = await loaded((options) => provide(options, made, [], () => ({ times: (times += 1) })));
    expect(times).to.equal(0);
    expect(container.get(made)).to.equal(container.get(made));
    expect(times).to.equal(1);
  });

  it('waits for what is made in time, for those that depend on it too', async () => {
    const [later, after] = [token<number>('test.later'), token<number>('test.after')];
    const container = await loaded((options) => {
      provide(options, later, [], async () => 1);
      provide(options, after, [later], (value) => value + 1);
    });
    expect(await container.getAsync(after)).to.equal(2);
  });

  it('hands over every value of a token in the order of binding, or none', async () => {
    const [some, none, all] = [
      token<number>('test.some'),
      token<number>('test.none'),
      token<number[]>('test.all'),
    ];
    const container = await loaded((options) => {
      for (const value of [1, 2, 3]) provideValue(options, some, value);
      provide(options, all, [every(some), every(none)], (values, nothing) => [...values, ...nothing]);
    });
    expect(container.get(all)).to.deep.equal([1, 2, 3]);
  });

  it('does not compile with a dependency that is swapped, missing, of another type or too many', async () => {
    // Inversify itself takes all of these without a word: it is the compiler alone that objects.
    const container = await loaded((options) => {
      // @ts-expect-error the two are swapped
      provide(options, TOKENS.animalStore, [TOKENS.clock, TOKENS.petRepository], animalStore);
      // @ts-expect-error the clock is missing
      provide(options, TOKENS.animalStore, [TOKENS.petRepository], animalStore);
      // @ts-expect-error an authenticator is no clock
      provide(options, TOKENS.animalStore, [TOKENS.petRepository, TOKENS.authenticator], animalStore);
      // @ts-expect-error an animal store is no clock
      provide(options, TOKENS.clock, [TOKENS.petRepository, TOKENS.clock], animalStore);
      // @ts-expect-error several factories are not one
      provide(options, TOKENS.store, [every(TOKENS.storeFactory)], (factory) => factory.open('memory:'));
      // @ts-expect-error a repository is no clock
      provideValue(options, TOKENS.clock, new MemoryPetRepository());
      // @ts-expect-error a symbol of one's own names nothing
      provideValue(options, Symbol.for('animal-store.Clock'), systemClock);
    });
    expect(container.isBound(TOKENS.animalStore)).to.equal(true);
  });

  it('lets what is got be taken for nothing else', async () => {
    const container = await loaded((options) => provideValue(options, TOKENS.clock, systemClock));
    // @ts-expect-error a clock is no repository
    const pets: PetRepository = container.get(TOKENS.clock);
    expect(pets).to.equal(systemClock);
  });
});

describe('A token', () => {
  it('is the same for the same name, so that adapters built against another copy of the package fit', () => {
    expect(token('Clock')).to.equal(TOKENS.clock);
    expect(token('Clock')).to.equal(Symbol.for('animal-store.Clock'));
  });

  it('has a name of its own each', () => {
    expect(new Set(Object.values(TOKENS))).to.have.property('size', Object.keys(TOKENS).length);
  });
});
