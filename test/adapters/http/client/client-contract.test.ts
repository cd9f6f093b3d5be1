import { animalStoreContract } from '../../../contract/animal-store-contract.js';
import { bindContract } from '../../../contract/bind-contract.js';
import { clientSubject, socketlessSubject } from './client-subject.js';

describe('AnimalStoreClient of the Koa transport', function () {
  // Some cases send thousands of requests, one after the other.
  this.timeout(120_000);
  bindContract(animalStoreContract, clientSubject);
});

describe('AnimalStoreClient of the fetch transport', function () {
  this.timeout(120_000);
  bindContract(animalStoreContract, socketlessSubject);
});
