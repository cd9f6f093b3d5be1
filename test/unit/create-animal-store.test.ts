import { expect } from 'chai';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import {
  InvalidCursorError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
} from '../../src/domain/errors.js';
import { untyped } from '../contract/animal-store/subject.js';
import { animalStoreContract } from '../contract/animal-store-contract.js';
import { bindContract } from '../contract/bind-contract.js';
import { rejectionOf } from '../contract/rejection.js';

describe('createAnimalStore on MemoryPetRepository', () => {
  bindContract(animalStoreContract, async () => {
    const pets = new MemoryPetRepository();
    return { store: createAnimalStore({ pets }), dispose: () => pets.close() };
  });
});

const asked = () => Promise.reject(new Error('the repository was asked'));

describe('createAnimalStore', () => {
  const unasked: PetRepository = {
    capabilities: { durable: false, shared: false },
    add: asked,
    findById: asked,
    list: asked,
    check: asked,
    close: asked,
  };
  const store = createAnimalStore({ pets: unasked });
  const fido = { name: 'Fido', categoryId: 1n };

  it('asks the repository nothing when a call is aborted already', async () => {
    const call = { signal: AbortSignal.abort('given up') };
    expect(await rejectionOf(store.listPets({}, call))).to.equal('given up');
    expect(await rejectionOf(store.createPet(fido, call))).to.equal('given up');
    expect(await rejectionOf(store.getPet(1n, call))).to.equal('given up');
  });

  it('asks the repository nothing when a call is not valid, and says so by the class of the error', async () => {
    expect(await rejectionOf(store.listPets({ limit: 0 }))).to.be.instanceOf(InvalidParameterError);
    expect(await rejectionOf(store.listPets({ cursor: '' }))).to.be.instanceOf(InvalidCursorError);
    expect(await rejectionOf(store.createPet({ ...fido, name: '' }))).to.be.instanceOf(InvalidPetError);
    expect(await rejectionOf(store.getPet(1.5))).to.be.instanceOf(InvalidParameterError);
    expect(await rejectionOf(store.getPet(2n ** 63n)))
      .to.be.instanceOf(PetNotFoundError)
      .with.property('petId', '9223372036854775808');
  });

  it('names every fault of a query', async () => {
    const error = await rejectionOf(untyped(store).listPets({ limit: 101, status: 'gone' }));
    expect(error)
      .to.be.instanceOf(InvalidParameterError)
      .with.property('faults')
      .that.deep.equals([
        { field: 'limit', message: 'must be an integer from 1 to 100' },
        { field: 'status', message: 'must be one of available, pending, sold' },
      ]);
  });

  it('lets what the repository rejects with through', async () => {
    for (const call of [store.listPets(), store.createPet(fido), store.getPet(1n)]) {
      expect(await rejectionOf(call)).to.have.property('message', 'the repository was asked');
    }
  });

  it('is frozen', () => {
    expect(store).to.be.frozen;
  });
});
