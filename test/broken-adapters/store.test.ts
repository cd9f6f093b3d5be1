import { storeContract, type StoreLifecycleCase } from '../contract/store-contract.js';
import { faultsOf, inPort, failsBrokenStores, type HandleFaults } from './broken-adapters.js';
import type { CatalogueTransfer } from '../../src/application/ports/catalogue-transfer.js';
import type { PetChanges } from '../../src/application/ports/pet-changes.js';
import type { CompleteStore } from '../../src/application/ports/store.js';

/** Rejects with its own error what is in progress when it is closed. */
const cutsOff = faultsOf<CompleteStore['pets']>();
const onlyOnce = (what: string) => {
  let done = false;
  return (): void => {
    if (done) throw new Error(what);
    done = true;
  };
};

/** The animals that a store acknowledges and loses. */
const lost = new Set<bigint>();
let isClosing = false;

/** Closes the first handle. */
let closeFirst: () => Promise<void>;

const broken = {
  ...inPort('lifecycle', {
    'can serve while it is open, unless the caller has aborted': faultsOf<{
      check(): Promise<void>;
    }>().deaf('check'),
    'closes twice, and twice at once': ({ close }) => {
      const requireOpen = onlyOnce('closed already');
      return {
        async close() {
          requireOpen();
          await close();
        },
      };
    },
    'closes within 5 seconds': () => ({ close: () => new Promise(() => {}) }),
  }),
  'rejects every call of every port after close with service_unavailable': [
    { first: { transfer: faultsOf<CatalogueTransfer>().alien('survey') } },
    {
      first: { changes: faultsOf<PetChanges>().rejects({ remove: () => false }) },
    },
    { first: { lifecycle: () => ({ close: async () => {} }) } },
    { first: { lifecycle: () => ({ check: async () => {} }) } },
  ],
  'finishes calls that are in progress at close, or rejects them with service_unavailable': {
    first: {
      pets: (pets) => cutsOff.alien('list')({ ...pets, ...cutsOff.late('list')(pets) }),
    },
  },
  'has every animal whose add resolved while it was closing': {
    first: {
      pets: (pets) => ({
        async add(pet, call) {
          const added = await pets.add(pet, call);
          if (isClosing) lost.add(added.id);
          return added;
        },
      }),
      lifecycle: ({ close }) => ({
        async close() {
          isClosing = true;
          await close();
        },
      }),
    },
    reopened: {
      pets: cutsOff.returns({ findById: (pet, id) => (lost.has(id) ? undefined : pet) }),
    },
  },
  'stays open when another handle is closed': {
    first: {
      lifecycle({ close }) {
        closeFirst = close;
        return {};
      },
    },
    another: { lifecycle: () => ({ close: () => closeFirst() }) },
  },
} satisfies Record<StoreLifecycleCase, HandleFaults | readonly HandleFaults[]>;

failsBrokenStores<StoreLifecycleCase>(storeContract, 'lifecycle', broken as never);
