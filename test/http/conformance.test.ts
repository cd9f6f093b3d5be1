import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { conformanceDocument, testNames, testsShowing } from './conformance.js';
import { INTERFACE_PROMISES } from './interface-promises.js';

const ROOT = new URL('../../../', import.meta.url);

describe('The conformance document', () => {
  const names = testNames(fileURLToPath(new URL('test', ROOT)));
  const found = (reference: string): number => testsShowing(reference, names).length;
  const promises = INTERFACE_PROMISES.flatMap((section) => section.promises);

  it('names a test for every sentence of the interface', () => {
    expect(promises.filter(({ shownBy }) => shownBy.length === 0)).to.deep.equal([]);
  });

  it('names only tests that there are', () => {
    const references = promises.flatMap(({ shownBy }) => shownBy);
    expect(references.filter((reference) => found(reference) === 0)).to.deep.equal([]);
  });

  it('knows a test that there is from one that there is not', () => {
    const file = 'http/conformance.test.ts';
    expect(found(`${file}: knows a test that there is from one that there is not`)).to.equal(1);
    expect(found('takes a limit of 1')).to.equal(1);
    expect(found('takes a limit of …')).to.be.greaterThan(1);
    expect(found(`${file}: knows everything`)).to.equal(0);
    expect(found('takes a limit')).to.equal(0);
    expect(found('takes no limit of …')).to.equal(0);
  });

  it('is as the generator makes it', () => {
    const committed = readFileSync(new URL('docs/conformance.md', ROOT), 'utf8');
    expect(committed).to.equal(conformanceDocument(names));
  });
});
