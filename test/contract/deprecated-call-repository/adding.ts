import { assert } from '../assert.js';
import { times } from '../samples.js';
import { added, batchOf, sampleCounts, type DeprecatedCallRepositoryCase } from './subject.js';

export const addingCases: readonly DeprecatedCallRepositoryCase[] = [
  {
    name: 'adds to what was counted before',
    async run({ counts }) {
      for (const calls of [5, 7, 2 ** 40]) await counts.record(batchOf(sampleCounts({ calls })));
      assert.deepEqual(await counts.list(), [sampleCounts({ calls: 12 + 2 ** 40 })]);
    },
  },
  {
    name: 'keeps the later last call, in whatever order they come',
    async run({ counts }) {
      const [first, last] = [new Date(1_000_000_000_000), new Date(1_000_000_000_001)];
      for (const keyId of ['a', 'b']) {
        const inOrder = keyId === 'a' ? [first, last] : [last, first];
        for (const lastAt of inOrder) await counts.record(batchOf(sampleCounts({ keyId, lastAt })));
      }
      assert.deepEqual(
        (await counts.list()).map(({ lastAt }) => lastAt),
        [last, last],
      );
    },
  },
  {
    name: 'counts each day, each operation and each key by itself, however alike they are',
    async run({ counts }) {
      const alike = [
        ['2026-11-20', 'a', 'bc'],
        ['2026-11-20', 'ab', 'c'],
        ['2026-11-20', 'a', 'Bc'],
        ['2026-11-20', 'a', 'bc '],
        ['2026-11-20', 'a', 'b,c'],
        ['2026-11-20', 'a,b', 'c'],
        ['2026-11-20', 'a', 'b"c'],
        ['2026-11-20', 'a', '\u00e9'],
        ['2026-11-20', 'a', 'e\u0301'],
        ['2026-11-21', 'a', 'bc'],
        ['2025-11-20', 'a', 'bc'],
      ].map(([day = '', operationId = '', keyId = ''], index) =>
        sampleCounts({ day, operationId, keyId, calls: 2 ** index }),
      );
      await counts.record(batchOf(...alike));
      await counts.record(batchOf(...alike.toReversed()));
      const listed = await counts.list();
      assert.deepEqual(
        listed.map(({ calls }) => calls).sort((one, other) => one - other),
        alike.map(({ calls }) => calls * 2),
      );
      for (const counted of alike) {
        const { day, operationId, keyId, calls } = counted;
        const found = listed.find(
          (other) => other.day === day && other.operationId === operationId && other.keyId === keyId,
        );
        assert.equal(found?.calls, calls * 2);
      }
    },
  },
  {
    name: 'adds batches of three hundred counts',
    async run({ counts }) {
      const many = times(300, (number) => sampleCounts({ keyId: `k${10_000 + number}`, calls: number }));
      await counts.record(batchOf(...many));
      await counts.record(batchOf(...many));
      assert.deepEqual(await counts.list(), many.map(added(2)));
    },
  },
  {
    name: 'counts every one of twenty simultaneous batches, those that count for the first time too',
    async run({ counts }) {
      await Promise.all(times(20, (number) => counts.record(batchOf(sampleCounts({ calls: 2 ** number })))));
      assert.deepEqual(await counts.list(), [sampleCounts({ calls: 2 ** 21 - 2 })]);
    },
  },
];
