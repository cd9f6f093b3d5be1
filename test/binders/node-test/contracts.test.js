import { after, describe, it } from 'node:test';
import { bindContract } from 'animal-store/contract';
import { BOUND } from '../subjects.mjs';

for (const [title, contract, open, options] of BOUND) {
  void describe(title, () => bindContract(contract, open, { describe, it, after }, options));
}
