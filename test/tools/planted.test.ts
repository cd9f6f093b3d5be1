import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, read } from '../docs/code-blocks.js';

describe('The faults that npm run planted plants', () => {
  const faults = read('tools/planted.jsonl')
    .trim()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { name: string; file: string; find: string; tests: string[] },
    );

  it('each have their place in the source, exactly one', () => {
    const astray = faults.filter(({ file, find }) => read(file).split(find).length !== 2);
    expect(astray.map(({ name }) => name)).to.deep.equal([]);
    expect(faults, 'the planted faults').to.have.length.above(40);
  });

  it('each name tests that exist', () => {
    const named = faults.flatMap(({ tests }) => tests).map((spec) => spec.replace(/\.js$/, '.ts'));
    expect(named.filter((spec) => !existsSync(join(ROOT, 'test', spec)))).to.deep.equal([]);
  });
});
