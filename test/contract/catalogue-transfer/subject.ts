import { strict as assert } from 'node:assert';
import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import type { CatalogueTransfer, KeptClaim } from '../../../src/application/ports/catalogue-transfer.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { savedPet, type Pet, type UnsavedPet } from '../../../src/domain/pet.js';
import type { ContractCase, Subject } from '../contract.js';
import { samplePet } from '../samples.js';

/** The adapters of one store. */
export interface CatalogueHandles {
  readonly transfer: CatalogueTransfer;
  readonly pets: PetRepository;
  readonly keys: ApiKeyRepository;
}

/** An empty store to hold to the contract. */
export interface CatalogueTransferSubject extends Subject, CatalogueHandles {
  /** Closes all three and opens the same store again. Required of a store that declares itself durable. */
  readonly reopen?: () => Promise<CatalogueHandles>;
  /** More handles on the same store, as another process has them. Required of one that declares itself shared. */
  readonly another?: () => Promise<CatalogueHandles>;
}

export type CatalogueTransferCase = ContractCase<CatalogueTransferSubject>;

export const unlessDurable = ({ pets }: CatalogueHandles): string | undefined =>
  pets.capabilities.durable ? undefined : 'the store does not declare itself durable';

export const unlessShared = ({ pets }: CatalogueHandles): string | undefined =>
  pets.capabilities.shared ? undefined : 'the store does not declare itself shared';

export async function reopened({ reopen }: CatalogueTransferSubject): Promise<CatalogueHandles> {
  assert.ok(reopen, 'a store that declares itself durable needs a subject with `reopen`');
  return reopen();
}

export async function anotherHandle({ another }: CatalogueTransferSubject): Promise<CatalogueHandles> {
  assert.ok(another, 'a store that declares itself shared needs a subject with `another`');
  return another();
}

export const petWithId = (id: bigint, fields?: Partial<UnsavedPet>): Pet =>
  savedPet(id, samplePet({ name: `Pet ${id}`, categoryId: -id, ...fields }));

/** Animals with these ids, in this order. */
export const petsWithIds = (...ids: readonly bigint[]): Pet[] => ids.map((id) => petWithId(id));

/** Reserves what has to be, and writes. */
export async function write(transfer: CatalogueTransfer, pets: readonly Pet[]): Promise<void> {
  await transfer.reserveIds(pets.reduce((last, { id }) => (id > last ? id : last), 0n));
  await transfer.writePets(pets);
}

export const readAllPets = (transfer: CatalogueTransfer): Promise<readonly Pet[]> =>
  transfer.readPets({ limit: 1000 });

export const readAllClaims = (transfer: CatalogueTransfer, now: Date): Promise<readonly KeptClaim[]> =>
  transfer.readClaims({ limit: 1000, now });
