import { assert } from '../assert.js';
import { times } from '../samples.js';
import { added, batchOf, sampleCounts, type DeprecatedCallRepositoryCase } from './subject.js';

const KEYS = times(20, (number) => sampleCounts({ keyId: `k${100 + number}`, calls: number }));

export const repeatingCases: readonly DeprecatedCallRepositoryCase[] = [
  {
    name: 'adds a batch once that was given up in the middle, and given again',
    async run({ counts }) {
      // Aborted in the same turn, and in later ones: before, while and after a store does its work.
      for (let turns = 0; turns < 10; turns += 1) {
        const batch = batchOf(...KEYS);
        const stop = new AbortController();
        const recording = counts.record(batch, { signal: stop.signal }).then(
          () => true,
          () => false,
        );
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        stop.abort();
        if (!(await recording)) await counts.record(batch);
      }
      assert.deepEqual(await counts.list(), KEYS.map(added(10)));
    },
  },
  {
    name: 'adds a batch once that was refused for its signal, with others in between',
    async run({ counts }) {
      await counts.record(batchOf(...KEYS));
      const refused = batchOf(...KEYS);
      await assert.rejects(counts.record(refused, { signal: AbortSignal.abort(new Error('given up')) }));
      await counts.record(batchOf(...KEYS));
      await counts.record(refused);
      assert.deepEqual(await counts.list(), KEYS.map(added(3)));
    },
  },
];
