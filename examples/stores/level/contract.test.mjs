import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { bindContract, petRepositoryContract } from 'animal-store/contract';
import { LevelPetRepository } from './level-pet-repository.mjs';

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'level-pets-'));
  const pets = await LevelPetRepository.open(folder);
  const handles = [pets];
  return {
    pets,
    ordered: true,
    async reopen() {
      await pets.close();
      const again = await LevelPetRepository.open(folder);
      handles.push(again);
      return { pets: again };
    },
    async dispose() {
      for (const handle of handles) await handle.close();
      await rm(folder, { recursive: true });
    },
  };
}

describe('LevelPetRepository', () => {
  bindContract(petRepositoryContract, open, { describe, it, after });
});
