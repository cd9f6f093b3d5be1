import { expect } from 'chai';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as entry from '../contract/index.js';

const folder = fileURLToPath(new URL('../contract/', import.meta.url));

/** What a module imports, by name. */
const importsOf = (source: string): readonly string[] =>
  Array.from(source.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)';|^import '([^']+)';/gm), (match) =>
    String(match[1] ?? match[2]),
  );

describe('the entry of the contract suites', () => {
  it('offers the contracts, and the ways to run them', () => {
    expect(entry).to.have.all.keys(
      'petRepositoryContract',
      'apiKeyRepositoryContract',
      'catalogueTransferContract',
      'deprecatedCallRepositoryContract',
      'authenticatorContract',
      'animalStoreContract',
      'httpContract',
      'listenerSubjects',
      'fetchSubjects',
      'serviceSubjects',
      'wireHttp',
      'SITUATIONS',
      'environmentOf',
      'storeContracts',
      'runContract',
      'bindContract',
      'bindToJest',
      'undeclaredCapabilities',
    );
  });

  it('imports nothing but Node.js and files of the package, so that it runs under any test runner', async () => {
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js'));
    const imports = await Promise.all(
      files.map(async (file) => importsOf(await readFile(`${folder}${file}`, 'utf8'))),
    );
    expect(imports.flat()).to.include.members(['node:assert', '../../../src/domain/int64.js']);
    expect(imports.flat().filter((name) => !/^(?:\.|node:(?!test))/.test(name))).to.deep.equal([]);
  });
});
