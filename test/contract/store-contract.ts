import assert from 'node:assert/strict';
import { API_KEY_OPERATIONS } from './api-key-repository-contract.js';
import { TRANSFER_OPERATIONS } from './catalogue-transfer-contract.js';
import { casesOf, missingIn, type Clauses, type Contract } from './contract.js';
import { CHANGE_OPERATIONS } from './pet-changes-contract.js';
import { PET_OPERATIONS } from './pet-repository/ending.js';
import { checkCode, outcomesOf, rejectsWhenAborted, rejectsWithCode } from './rejection.js';
import { within } from './settle.js';
import { samplePet, times } from './samples.js';
import { storeOneOfEach, type Operations } from './store-operations.js';
import {
  anotherHandle,
  listAll,
  noStore,
  reopened,
  PARTS,
  type CompleteSubject,
  type StoreRun,
  type StoreSubject,
} from './store-subject.js';

/** The calls of every port. */
const OPERATIONS: Readonly<Record<string, Operations>> = {
  pets: PET_OPERATIONS,
  apiKeys: API_KEY_OPERATIONS,
  transfer: TRANSFER_OPERATIONS,
  changes: CHANGE_OPERATIONS,
};

type NamedCall = readonly [name: string, call: () => Promise<unknown>];

/** Those of the ports that the store has. */
function callsOf(subject: StoreSubject, id: bigint): readonly NamedCall[] {
  const ports = Object.keys(OPERATIONS).filter((port) => Reflect.get(subject, port) !== undefined);
  const ofPorts = ports.flatMap((port) =>
    Object.entries(OPERATIONS[port] ?? {}).map(([name, call]): NamedCall => [
      `${port}.${name}`,
      () => call(subject as CompleteSubject, id),
    ]),
  );
  return [['check', () => subject.check()], ...ofPorts];
}

const LIFECYCLE: Clauses<StoreRun> = {
  async 'can serve while it is open, unless the caller has aborted'(subject) {
    await subject.check();
    await rejectsWhenAborted((aborted) => subject.check(aborted));
    await subject.check();
  },
  async 'closes twice, and twice at once'({ close }) {
    await Promise.all([close(), close()]);
    await close();
  },
  async 'closes within 5 seconds'({ pets, close }) {
    await Promise.all(times(5, () => pets.add(samplePet())));
    await within(5000, 'close did not end', close());
  },
  async 'rejects every call of every port after close with service_unavailable'(subject) {
    const id = await storeOneOfEach(subject);
    await subject.close();
    for (const [name, call] of callsOf(subject, id))
      await rejectsWithCode(call(), 'service_unavailable', name);
  },
  async 'finishes calls that are in progress at close, or rejects them with service_unavailable'(
    subject,
  ) {
    const id = await storeOneOfEach(subject);
    const checking = callsOf(subject, id).map(async ([name, call]) => {
      const { errors } = await outcomesOf([call()]);
      for (const error of errors) checkCode(error, 'service_unavailable', name);
    });

    await subject.close();

    await Promise.all(checking);
  },
};

const DURABILITY: Clauses<StoreRun> = {
  async 'has every animal whose add resolved while it was closing'(subject) {
    const adding = outcomesOf(times(20, () => subject.pets.add(samplePet())));

    const { pets } = await reopened(subject);

    const { values } = await adding;
    for (const pet of values) assert.deepEqual(await pets.findById(pet.id), pet);
  },
};

const SHARING: Clauses<StoreRun> = {
  async 'stays open when another handle is closed'(subject) {
    const other = await anotherHandle(subject);
    await other.pets.add(samplePet());
    await other.close();
    await subject.check();
    await subject.pets.add(samplePet());
    assert.equal((await listAll(subject.pets)).length, 2, 'animals of both handles');
  },
};

const cases = [
  ...casesOf(LIFECYCLE),
  ...casesOf(DURABILITY, PARTS.durable),
  ...casesOf(SHARING, PARTS.shared),
];

/** The lifecycle of a store: readiness, closing, and every call after it. */
export const storeContract: Contract<StoreSubject> = {
  port: 'Store',
  lacks: (subject) => noStore(subject) ?? missingIn(subject, 'check', 'close'),
  cases,
};
