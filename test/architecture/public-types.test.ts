import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The least that is a store, as somebody outside writes it; each fault below changes one line. */
const ADAPTER = `
import { savedPet, type AddedPet, type AddOptions, type Call, type Pet, type PetRange } from 'animal-store';
import { createAnimalStore, type PetRepository, type UnsavedPet } from 'animal-store';

export class ArrayPetRepository implements PetRepository {
  readonly capabilities = { durable: false, shared: false };
  readonly #pets: Pet[] = [];
  async add(pet: UnsavedPet, _options?: AddOptions): Promise<AddedPet> {
    const saved = savedPet(BigInt(this.#pets.length + 1), pet);
    this.#pets.push(saved);
    return { pet: saved, replayed: false };
  }
  async findById(id: bigint, _call?: Call): Promise<Pet | undefined> {
    return this.#pets.find((pet) => pet.id === id);
  }
  async list({ after = 0n, limit }: PetRange): Promise<readonly Pet[]> {
    return this.#pets.filter(({ id }) => id > after).slice(0, limit);
  }
  async check(): Promise<void> {}
  async close(): Promise<void> {}
}
const store = createAnimalStore({ pets: new ArrayPetRepository() });
export const name: string = (await store.getPet(1)).name;
`;

/** What is wrong, and how: a text of the adapter, and what it is replaced by. */
const FAULTS = {
  'without check': ['  async check(): Promise<void> {}\n', ''],
  'that does not say whether it is durable': ['durable: false, ', ''],
  'whose add gives no word on whether it is a replay': [', replayed: false }', ' }'],
  'whose ids are numbers': ['id: bigint, _call', 'id: number, _call'],
  'that finds null': ['Promise<Pet | undefined>', 'Promise<Pet | null>'],
  'that changes an animal': ['this.#pets.push(saved);', "saved.name = 'Rex';"],
  'that lists by a status of its own': ['limit }: PetRange)', "limit }: PetRange & { status: 'lost' })"],
} as const;

/** The files, by name, in which the compiler finds errors. */
async function filesWithErrors(folder: string): Promise<ReadonlySet<string>> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const out = await promisify(execFile)(process.execPath, [compiler, '-p', '.', '--pretty', 'false'], {
    cwd: folder,
  }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
  return new Set([...out.matchAll(/^(\S+)\(\d+,\d+\): error TS\d+: /gm)].map(([, file = '']) => file));
}

describe('The public types', () => {
  let folder: string;
  let found: ReadonlySet<string>;
  const faults = Object.entries(FAULTS);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-types-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules/animal-store'), 'dir');
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    writeFileSync(join(folder, 'sound.ts'), ADAPTER);
    for (const [index, [, [text, by]]] of faults.entries()) {
      writeFileSync(join(folder, `fault-${index}.ts`), ADAPTER.replace(text, by));
    }
    found = await filesWithErrors(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('let the least adapter that is sound compile', () => {
    expect([...found]).to.not.include('sound.ts');
  });

  for (const [index, [fault]] of faults.entries()) {
    it(`refuse an adapter ${fault}`, () => {
      expect([...found]).to.include(`fault-${index}.ts`);
    });
  }
});
