import { expect } from 'chai';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import type { Claim, PetRepository } from '../../src/application/ports/pet-repository.js';
import {
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
} from '../../src/domain/errors.js';
import { rejectionOf } from '../contract/rejection.js';

const HOUR = 60 * 60 * 1000;
const START = Date.now();
const fido = { name: 'Fido', categoryId: 1n };
const request = { scope: 'a scope', token: 'a token' };

/** A store whose clock stands still until it is set, and the claims that reached the repository. */
function standing() {
  const memory = new MemoryPetRepository();
  const claims: (Claim | undefined)[] = [];
  const pets: PetRepository = {
    capabilities: memory.capabilities,
    add(pet, options) {
      claims.push(options?.claim);
      return memory.add(pet, options);
    },
    findById: (id, call) => memory.findById(id, call),
    list: (range, call) => memory.list(range, call),
    check: (call) => memory.check(call),
    close: () => memory.close(),
  };
  let now = START;
  const store = createAnimalStore({ pets, clock: { now: () => new Date(now) } });
  return {
    store,
    claims,
    setClock: (time: number): void => {
      now = time;
    },
  };
}

describe('createPet with a request token', () => {
  it('replays for 24 hours, to the millisecond before', async () => {
    const { store, setClock } = standing();
    const { pet } = await store.createPet(fido, { request });
    setClock(START + 24 * HOUR - 1);
    expect(await store.createPet(fido, { request })).to.deep.equal({ pet, replayed: true });
  });

  it('creates anew from 24 hours on, any animal', async () => {
    const { store, setClock } = standing();
    const first = await store.createPet(fido, { request });
    setClock(START + 24 * HOUR);
    const second = await store.createPet({ ...fido, name: 'Rex' }, { request });
    expect(second.replayed).to.equal(false);
    expect((await store.listPets()).pets).to.deep.equal([first.pet, second.pet]);
  });

  it('claims for its scope and token, from now for 24 hours', async () => {
    const { store, claims } = standing();
    await store.createPet(fido, { request });
    const [claim] = claims;
    expect(claim).to.deep.include(request);
    expect(claim?.now).to.deep.equal(new Date(START));
    expect(claim?.keepUntil).to.deep.equal(new Date(START + 24 * HOUR));
  });

  it('has the fingerprint of an animal, which never changes: SHA-256 in hexadecimal', async () => {
    const { store, claims } = standing();
    await store.createPet(fido, { request });
    // The digest of ["Fido","1","available"], as any tool computes it.
    expect(claims[0]?.fingerprint).to.equal(
      'aad0c1c24d71e76e5a94be4cb8924adb665087aedcdc2436ae929c84be6c00e2',
    );
  });

  it('has one fingerprint for an animal however it is written, and others for all others', async () => {
    const { store, claims } = standing();
    const animals = [
      fido,
      { status: 'available' as const, categoryId: 1, name: 'Fido' },
      { ...fido, name: 'fido' },
      { ...fido, name: 'Fido","1' },
      { ...fido, name: 'Ame\u0301lie' },
      { ...fido, name: 'Am\u00e9lie' },
      { ...fido, categoryId: 2n ** 53n },
      { ...fido, categoryId: 2n ** 53n + 1n },
      { ...fido, status: 'sold' as const },
    ];
    for (const [index, animal] of animals.entries()) {
      await store.createPet(animal, { request: { scope: 'a scope', token: `token ${index}` } });
    }
    const fingerprints = claims.map((claim) => claim?.fingerprint);
    expect(fingerprints[0]).to.equal(fingerprints[1]);
    expect(new Set(fingerprints.slice(1)).size).to.equal(animals.length - 1);
  });

  it('makes no claim when there is no token', async () => {
    const { store, claims } = standing();
    await store.createPet(fido);
    await store.createPet(fido, { request: undefined });
    expect(claims).to.deep.equal([undefined, undefined]);
  });

  it('names both faults of a token and its scope, and asks the repository nothing', async () => {
    const { store, claims } = standing();
    const error = await rejectionOf(
      store.createPet(fido, { request: { scope: '', token: 'x'.repeat(256) } }),
    );
    expect(error)
      .to.be.instanceOf(InvalidParameterError)
      .with.property('faults')
      .that.deep.equals([
        { field: 'request.scope', message: 'must have 1 to 255 characters of Unicode' },
        { field: 'request.token', message: 'must have 1 to 255 characters of Unicode' },
      ]);
    expect(claims).to.deep.equal([]);
  });

  it('looks at the animal before the token', async () => {
    const { store } = standing();
    const error = await rejectionOf(
      store.createPet({ ...fido, name: '' }, { request: { scope: '', token: '' } }),
    );
    expect(error).to.be.instanceOf(InvalidPetError);
  });

  it('lets the refusal of the repository through', async () => {
    const { store } = standing();
    await store.createPet(fido, { request });
    expect(await rejectionOf(store.createPet({ ...fido, name: 'Rex' }, { request }))).to.be.instanceOf(
      IdempotencyKeyReusedError,
    );
  });

  it('asks the repository nothing when it is aborted while the fingerprint is made', async () => {
    const { store, claims } = standing();
    const controller = new AbortController();
    const creating = rejectionOf(store.createPet(fido, { request, signal: controller.signal }));
    controller.abort('given up');
    expect(await creating).to.equal('given up');
    expect(claims).to.deep.equal([]);
  });
});
