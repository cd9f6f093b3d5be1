import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const PACKAGE = fileURLToPath(new URL('../../../../../', import.meta.url));
const COMPILER = join(PACKAGE, 'node_modules/typescript/bin/tsc');

/** For browsers: with their types, and none of Node.js. */
const OPTIONS =
  '--noEmit --strict --exactOptionalPropertyTypes --skipDefaultLibCheck --ignoreConfig --target es2024 --module nodenext --lib es2024,dom,dom.iterable --types';

const PROGRAM = `
import { isAnimalStoreError, type AnimalStore, type Pet } from 'animal-store';
import { AnimalStoreClient, ServiceError, type Fetch, type RetryNotice } from 'animal-store/client';

const counted: Fetch = (url, init) => fetch(url, init);
const store: AnimalStore = new AnimalStoreClient({ baseUrl: new URL('/v1', location.href), apiKey: 'a', fetch: counted });
const client = new AnimalStoreClient({
  baseUrl: 'https://animals.example/v1',
  apiKey: async () => 'a',
  fetch,
  onRetry: ({ operation, error }: RetryNotice) => console.warn(operation, error),
});
export async function pets(): Promise<Pet[]> {
  // @ts-expect-error an id is not a text: the types are found, and say so
  const pets: Pet[] = [await store.getPet(1n), await store.getPet('1')];
  try {
    for await (const pet of client.allPets({ status: 'sold' }, { signal: AbortSignal.timeout(5) })) pets.push(pet);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'rate_limited') console.warn(error.retryAfter);
    if (isAnimalStoreError(error) && error.code === 'service_unavailable') console.warn(error.retryAfter);
  }
  return pets;
}
`;

describe('The types of AnimalStoreClient', () => {
  it('compile in a program for browsers, without those of Node.js', async () => {
    // Within the package its own name can be imported.
    const folder = await mkdtemp(join(PACKAGE, 'build/types-'));
    const file = join(folder, 'program.ts');
    await writeFile(file, PROGRAM);
    const compiling = promisify(execFile)(process.execPath, [COMPILER, ...OPTIONS.split(' '), '', file]);
    const { stdout } = await compiling.catch((error: { stdout: string }) => error);
    await rm(folder, { recursive: true });
    expect(stdout).to.equal('');
  }).timeout(60_000);
});
