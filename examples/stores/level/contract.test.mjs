import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { bindContract, storeContracts, storeSubject } from 'animal-store/contract';
import { openLevelStore } from './adapter.mjs';

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'level-pets-'));
  return storeSubject(
    () => openLevelStore(folder),
    () => rm(folder, { recursive: true }),
    { durable: true, ordered: true },
  );
}

// What LevelDB cannot do, or this example leaves out. Each animal is synced alone, which 10,000 take too long for.
const without = ['shared', 'apiKeys', 'changes', 'transfer'];

describe('openLevelStore', () => {
  for (const contract of storeContracts)
    bindContract(contract, open, { describe, it, after }, { without, animals: 2_000 });
});
