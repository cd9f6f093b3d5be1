import { setImmediate as turn } from 'node:timers/promises';
import { unmetCondition, type PetCondition } from '../../src/application/ports/pet-changes.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import type { PortFault } from './broken-adapters.js';

/** Changes in one step what it compared in another. */
export const comparesFirst: PortFault<'changes'> = (changes, { pets }) => ({
  async change(id, change, condition, call) {
    const found = await pets.findById(id, call);
    await turn();
    const isMet = found !== undefined && unmetCondition(found, condition) === undefined;
    return changes.change(id, change, isMet ? PET_STATUSES : condition, call);
  },
});

/** Writes all fields of an animal that was read before. */
export const writesWholeAnimals: PortFault<'changes'> = (changes, { pets }) => ({
  async change(id, change, condition, call) {
    const { id: _, ...fields } = (await pets.findById(id, call)) ?? { id };
    await turn();
    return changes.change(id, { ...fields, ...change }, condition, call);
  },
});

/** Of an animal that was read only its status. */
const statusOf = (condition: PetCondition): PetCondition =>
  'id' in condition ? [condition.status] : condition;

/** Compares only the status of an animal that was read. */
export const comparesStatusAlone: PortFault<'changes'> = (changes) => ({
  async change(id, change, condition, call) {
    await turn();
    return changes.change(id, change, statusOf(condition), call);
  },
  remove: (id, condition, call) => changes.remove(id, statusOf(condition), call),
});
