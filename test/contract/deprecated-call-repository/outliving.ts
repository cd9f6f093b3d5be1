import { assert } from '../assert.js';
import { anotherHandle, reopened } from '../handles.js';
import { times } from '../samples.js';
import { DURABLE, SHARED, batchOf, sampleCounts, type DeprecatedCallRepositoryCase } from './subject.js';

/** What outlives a handle: the same store opened again, and what other processes see of it. */
export const outlivingCases: readonly DeprecatedCallRepositoryCase[] = [
  {
    name: 'has every count exactly as it was after closing and opening again, and adds to it',
    needs: DURABLE,
    async run(subject) {
      await subject.counts.record(batchOf(sampleCounts({ calls: 5 }), sampleCounts({ keyId: 'another' })));
      const counts = await reopened(subject);
      assert.deepEqual(await counts.list(), [sampleCounts({ calls: 5 }), sampleCounts({ keyId: 'another' })]);
      await counts.record(batchOf(sampleCounts()));
      assert.equal((await counts.list())[0]?.calls, 6);
    },
  },
  {
    name: 'shows what was added to another handle as soon as the call is answered',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      for (const calls of times(10, (number) => number)) {
        await subject.counts.record(batchOf(sampleCounts()));
        assert.deepEqual(await other.list(), [sampleCounts({ calls })]);
      }
    },
  },
  {
    name: 'counts every one of twenty simultaneous batches through two handles',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      await Promise.all(
        times(20, (number) => {
          const batch = batchOf(sampleCounts({ calls: 2 ** number }), sampleCounts({ keyId: 'another' }));
          return (number % 2 === 0 ? subject.counts : other).record(batch);
        }),
      );
      assert.deepEqual(await subject.counts.list(), [
        sampleCounts({ calls: 2 ** 21 - 2 }),
        sampleCounts({ keyId: 'another', calls: 20 }),
      ]);
    },
  },
];
