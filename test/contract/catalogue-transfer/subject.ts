import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import type { CatalogueTransfer, PetClaim } from '../../../src/application/ports/catalogue-transfer.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { savedPet, type Pet, type UnsavedPet } from '../../../src/domain/pet.js';
import type { ContractCase, Subject } from '../contract.js';
import { durable, shared, type MoreHandles } from '../handles.js';
import { samplePet } from '../samples.js';

/** The adapters of one store. */
export interface CatalogueHandles {
  /** What the contract is about. */
  readonly transfer: CatalogueTransfer;
  /** The same store's animals: what was written has to be seen here. */
  readonly pets: PetRepository;
  /** The same store's API keys. */
  readonly keys: ApiKeyRepository;
}

/** An empty store to hold to the contract. */
export interface CatalogueTransferSubject extends Subject, CatalogueHandles, MoreHandles<CatalogueHandles> {}

export type CatalogueTransferCase = ContractCase<CatalogueTransferSubject>;

export const DURABLE = durable<CatalogueTransferSubject>(({ pets }) => pets.capabilities.durable);
export const SHARED = shared<CatalogueTransferSubject>(({ pets }) => pets.capabilities.shared);

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

export const readAllClaims = (transfer: CatalogueTransfer, now: Date): Promise<readonly PetClaim[]> =>
  transfer.readClaims({ limit: 1000, now });
