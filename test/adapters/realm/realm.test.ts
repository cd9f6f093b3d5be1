import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { Child, cleanUp, temporaryFolder } from '../../service/running-service.js';

describe('in another realm, as in Jest and in the vmThreads of Vitest', () => {
  afterEach(cleanUp);

  for (const [store, what] of [
    ['sqlite', 'an SQLite store waits for locks, and its errors are those of the port'],
    ['mongo', 'a MongoDB store knows faults of the network, and the dates in documents'],
  ] as const) {
    it(what, async () => {
      const script = fileURLToPath(new URL('in-realm.js', import.meta.url));
      const scenario = new URL(`${store}-scenario.js`, import.meta.url).href;
      const folder = temporaryFolder();
      const args = ['--experimental-vm-modules', '--no-warnings', script, scenario, folder];
      const { code, err } = await new Child(process.execPath, args, folder, {}).ended;
      expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    });
  }
});
