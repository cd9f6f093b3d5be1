import { assert } from '../assert.js';
import type { DeprecatedCalls } from '../../../src/application/ports/deprecated-call-repository.js';
import { TRICKY_NAMES } from '../samples.js';
import {
  batchOf,
  sampleCounts,
  type DeprecatedCallRepositoryCase,
  type DeprecatedCallRepositorySubject,
} from './subject.js';

const keepsExactly =
  (counted: DeprecatedCalls) =>
  async ({ counts }: DeprecatedCallRepositorySubject): Promise<void> => {
    await counts.record(batchOf(counted));
    assert.deepEqual(await counts.list(), [counted]);
  };

/** The milliseconds at which a store of seconds, of 32 bits or of four digits of a year goes wrong first. */
const TIMES = [0, 1, 999, 1000, 2 ** 31 * 1000, 2 ** 32 * 1000 + 1, Date.UTC(9999, 11, 31, 23, 59, 59, 999)];

/** The ids of keys are the authenticator's own: any text. */
const KEY_IDS: Readonly<Record<string, string>> = {
  ...TRICKY_NAMES,
  nothing: '',
  'U+0000': 'a\0b',
  'a lone surrogate': 'a\ud800',
  'a dollar, dots and brackets': '$a.b["c"]',
};

export const keepingCases: readonly DeprecatedCallRepositoryCase[] = [
  {
    name: 'lists nothing when nothing was counted',
    async run({ counts }) {
      assert.deepEqual(await counts.list(), []);
    },
  },
  ...TIMES.map((time) => ({
    name: `keeps the time of the last call exact to the millisecond: ${new Date(time).toISOString()}`,
    run: keepsExactly(sampleCounts({ lastAt: new Date(time) })),
  })),
  ...[1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER].map((calls) => ({
    name: `keeps the number of calls exactly: ${calls}`,
    run: keepsExactly(sampleCounts({ calls })),
  })),
  ...Object.entries(KEY_IDS).map(([what, keyId]) => ({
    name: `keeps the id of a key with ${what} in it exactly`,
    run: keepsExactly(sampleCounts({ keyId })),
  })),
  {
    name: 'keeps the name of an operation exactly, whatever is in it',
    run: keepsExactly(sampleCounts({ operationId: ' get"Pet\0\ud800' })),
  },
  {
    name: 'takes a batch without counts, and keeps nothing',
    async run({ counts }) {
      await counts.record(batchOf());
      assert.deepEqual(await counts.list(), []);
    },
  },
  {
    name: 'keeps its own copy of a batch: changing the one given changes nothing, even before the answer',
    async run({ counts }) {
      const counted = { ...sampleCounts() };
      const given = [counted];
      const recording = counts.record({ ...batchOf(), counts: given });
      counted.lastAt.setTime(7);
      Object.assign(counted, { calls: 7, keyId: 'another' });
      given.length = 0;
      await recording;
      assert.deepEqual(await counts.list(), [sampleCounts()]);
    },
  },
  {
    name: 'gives copies, dates included: changing a result changes nothing that is kept',
    async run({ counts }) {
      await counts.record(batchOf(sampleCounts()));
      const listed = await counts.list();
      listed[0]?.lastAt.setTime(7);
      Reflect.set(listed[0] ?? {}, 'calls', 7);
      Reflect.set(listed, 'length', 0);
      assert.deepEqual(await counts.list(), [sampleCounts()]);
    },
  },
];
