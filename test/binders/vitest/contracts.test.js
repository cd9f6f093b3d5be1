import { bindContract } from 'animal-store/contract';
import { afterAll, describe, it } from 'vitest';
import { BOUND } from '../subjects.mjs';

for (const [title, contract, open, options] of BOUND) {
  describe(title, () => bindContract(contract, open, { describe, it, after: afterAll }, options));
}
