import { animalStoreContract } from '../../../contract/animal-store-contract.js';
import { bindContract } from '../../../contract/bind-contract.js';
import { clientSubject, socketlessSubject } from './client-subject.js';

/** What the client or the service refuses does not depend on the transport. */
const only = (name: string): boolean => !name.startsWith('refuses');

describe('AnimalStoreClient of the Koa transport', () =>
  bindContract(animalStoreContract, clientSubject, undefined, { only }));

describe('AnimalStoreClient of the fetch transport', () =>
  bindContract(animalStoreContract, socketlessSubject));
