import { assert } from '../assert.js';
import { batchOf, sampleCounts, type DeprecatedCallRepositoryCase } from './subject.js';

const KEY_IDS = ['', '"', '-', '0', '10', '9', 'A', 'Z', '_', 'a', 'aB', 'ab', '\u00e9', '🦊', '\uff5e'];

export const listingCases: readonly DeprecatedCallRepositoryCase[] = [
  {
    name: 'lists by day, then by operation, then by key, both in the order of code units',
    async run({ counts }) {
      const sorted = ['0999-12-31', '2026-11-20', '2026-11-21', '2027-01-01'].flatMap((day) =>
        ['Get', 'get', 'getPet'].flatMap((operationId) =>
          KEY_IDS.map((keyId) => sampleCounts({ day, operationId, keyId })),
        ),
      );
      const mixed = sorted.map((_, index) => sorted[(index * 7) % sorted.length] ?? sampleCounts());
      await counts.record(batchOf(...mixed));
      assert.deepEqual(await counts.list(), sorted);
    },
  },
  {
    name: 'lists the day asked for and later ones, and no other',
    async run({ counts }) {
      const days = ['2025-12-31', '2026-10-31', '2026-11-01', '2026-11-02', '2027-01-01'];
      await counts.record(batchOf(...days.map((day) => sampleCounts({ day }))));
      const since = async (day?: string): Promise<readonly string[]> =>
        (await counts.list({ since: day })).map((counted) => counted.day);
      assert.deepEqual(await since(), days);
      assert.deepEqual(await since('0000-01-01'), days);
      assert.deepEqual(await since('2026-11-01'), days.slice(2));
      assert.deepEqual(await since('2026-11-03'), days.slice(4));
      assert.deepEqual(await since('2027-01-01'), days.slice(4));
      assert.deepEqual(await since('2027-01-02'), []);
    },
  },
];
