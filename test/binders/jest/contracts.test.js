import { afterAll, describe, it } from '@jest/globals';
import { bindToJest } from 'animal-store/contract';
import { BOUND } from '../subjects.mjs';

for (const [, contract, open, options] of BOUND) {
  await bindToJest(contract, open, { describe, it, after: afterAll }, options);
}
