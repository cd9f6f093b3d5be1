import { storeContract } from '../contract/store-contract.js';
import {
  failsBrokenStores,
  faultsOf,
  inPort,
  together,
  type HandleFaults,
} from './broken-adapters.js';
import type { CatalogueTransfer } from '../../src/application/ports/catalogue-transfer.js';
import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { CompleteStore } from '../../src/application/ports/store.js';

const inPets = faultsOf<CompleteStore['pets']>();

/** Acknowledges animals while it closes, and does not have them afterwards. */
const losesWhileClosing = (): HandleFaults => {
  const lost = new Set<bigint>();
  let isClosing = false;
  return {
    first: together(
      inPort('pets', (pets) => ({
        async add(pet, call) {
          const added = await pets.add(pet, call);
          if (isClosing) lost.add(added.id);
          return added;
        },
      })),
      ({ close }) => ({
        async close() {
          isClosing = true;
          await close();
        },
      }),
    ),
    reopened: inPort(
      'pets',
      inPets.returns({ findById: (pet, id) => (lost.has(id) ? undefined : pet) }),
    ),
  };
};

/** Closes the first handle instead of another one. */
const closesFirst = (): HandleFaults => {
  let closeFirst: () => Promise<void>;
  return {
    first({ close }) {
      closeFirst = close;
      return {};
    },
    another: () => ({ close: () => closeFirst() }),
  };
};

const stays = async (): Promise<void> => {};

failsBrokenStores(storeContract, {
  'can serve while it is open, unless the caller has aborted': {
    first: faultsOf<CompleteStore>().deaf('check'),
  },
  'closes twice, and twice at once': {
    first({ close }) {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('closed already');
          isClosed = true;
          await close();
        },
      };
    },
  },
  'closes within 5 seconds': { first: () => ({ close: () => new Promise(() => {}) }) },
  'rejects every call of every port after close with service_unavailable': [
    { first: inPort('transfer', faultsOf<CatalogueTransfer>().alien('survey')) },
    { first: inPort('changes', faultsOf<PetChanges>().rejects({ remove: () => false })) },
    { first: () => ({ close: stays }) },
    { first: () => ({ check: stays }) },
  ],
  // Rejects with its own error what is in progress when it is closed.
  'finishes calls that are in progress at close, or rejects them with service_unavailable': {
    first: inPort('pets', (pets) =>
      inPets.alien('list')({ ...pets, ...inPets.slow('list')(pets) }),
    ),
  },
  'has every animal whose add resolved while it was closing': losesWhileClosing(),
  'stays open when another handle is closed': closesFirst(),
});
