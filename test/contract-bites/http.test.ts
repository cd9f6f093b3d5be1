import { expect } from 'chai';
import { httpContract } from '../contract/http-contract.js';
import { runContract } from '../contract/run-contract.js';
import { answers } from './http/answers.js';
import { unbrokenFetch, unbrokenListener } from './http/broken.js';
import { requests } from './http/requests.js';

const BITES = [...requests, ...answers];

describe('the contract of the HTTP interface', () => {
  it('has a name of its own for each case', () => {
    const names = httpContract.cases.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
  });

  for (const [transport, open] of Object.entries({
    'a request listener': unbrokenListener,
    'a Fetch handler': unbrokenFetch,
  })) {
    it(`passes ${transport} that is not broken, by what catches broken ones`, async () => {
      const catching = new Set(BITES.map(({ caughtBy }) => caughtBy));
      const results = await runContract(httpContract, open, { only: (name) => catching.has(name) });
      expect(results).to.have.length(catching.size);
      expect(results.filter(({ outcome }) => outcome === 'failed')).to.deep.equal([]);
    });
  }

  for (const { that, caughtBy, open } of BITES) {
    it(`catches one that ${that}`, async () => {
      const [result] = await runContract(httpContract, open, { only: (name) => name === caughtBy });
      expect(result).to.include({ name: caughtBy, outcome: 'failed' });
      // For its own sake, and not because the suite's animals could not be added.
      const { error } = result as { readonly error?: unknown };
      expect(error)
        .to.be.instanceOf(Error)
        .with.property('stack')
        .that.does.not.match(/ready-subject/);
    });
  }
});
