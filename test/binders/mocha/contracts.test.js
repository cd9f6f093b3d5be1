import { bindContract } from 'animal-store/contract';
import { BOUND } from '../subjects.mjs';

for (const [title, contract, open, options] of BOUND) {
  describe(title, () => bindContract(contract, open, undefined, options));
}
