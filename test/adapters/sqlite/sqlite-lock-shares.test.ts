import { expect } from 'chai';
import { join } from 'node:path';
import { Child, cleanUp, temporaryFolder } from '../../service/running-service.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.js';

const PROCESSES = 4;
const STORE = new URL('../../../src/adapters/sqlite/index.js', import.meta.url).href;

/** Adds animals, 16 at a time, from one moment to another; prints how many. */
const adding = (file: string, from: number, until: number): string => `
  import { StatementSync } from 'node:sqlite';
  import { openSqliteStore } from ${JSON.stringify(STORE)};
  const { get } = StatementSync.prototype;
  StatementSync.prototype.get = function (...given) {
    // As on a disk, which is what takes the time of a commit.
    if (this.sourceSQL === 'COMMIT') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 15);
    return get.apply(this, given);
  };
  const { pets, close } = await openSqliteStore(${JSON.stringify(file)});
  let added = 0;
  while (Date.now() < ${from}) await new Promise((resolve) => setTimeout(resolve, 1));
  const add = async () => {
    for (; Date.now() < ${until}; added += 1) await pets.add({ name: 'Rex', categoryId: 1n, status: 'sold' });
  };
  await Promise.all(Array.from({ length: 16 }, add));
  await close();
  console.log(added);`;

describe('Processes that write to one SQLite store', () => {
  afterEach(cleanUp);

  it('get half of an equal share of the commits each, or more', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'animals.db');
    await (await openSqliteStore(file)).close();
    const from = Date.now() + 2000;
    const code = adding(file, from, from + 2000);
    const children = Array.from(
      { length: PROCESSES },
      () => new Child(process.execPath, ['--input-type=module', '--eval', code], folder, {}),
    );
    const outcomes = await Promise.all(children.map(({ ended }) => ended));
    const added = outcomes.map(({ out }) => Number(out));
    const all = added.reduce((sum, count) => sum + count, 0);
    expect(Math.min(...added), added.join()).to.be.above(all / PROCESSES / 2);
  }).timeout(30_000);
});
