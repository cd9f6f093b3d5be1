import { assert } from '../assert.js';
import type { Call } from '../../../src/application/call.js';
import type { DeprecatedCallRepository } from '../../../src/application/ports/deprecated-call-repository.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { batchOf, sampleCounts, type DeprecatedCallRepositoryCase } from './subject.js';

const OPERATIONS: Readonly<
  Record<string, (counts: DeprecatedCallRepository, call?: Call) => Promise<unknown>>
> = {
  record: (counts, call) => counts.record(batchOf(sampleCounts()), call),
  list: (counts, call) => counts.list({}, call),
};

export const endingCases: readonly DeprecatedCallRepositoryCase[] = [
  {
    name: 'closes twice, and twice at once',
    async run({ counts }) {
      await Promise.all([counts.close(), counts.close()]);
      await counts.close();
    },
  },
  ...Object.entries(OPERATIONS).flatMap(([operation, call]): DeprecatedCallRepositoryCase[] => [
    {
      name: `rejects with service_unavailable after close: ${operation}`,
      async run({ counts }) {
        await counts.record(batchOf(sampleCounts()));
        await counts.close();
        await rejectsWithCode(call(counts), 'service_unavailable');
      },
    },
    {
      name: `rejects with the reason of a signal that is aborted already, and changes nothing: ${operation}`,
      async run({ counts }) {
        await counts.record(batchOf(sampleCounts()));
        await rejectsWhenAborted((aborted) => call(counts, aborted));
        assert.deepEqual(await counts.list(), [sampleCounts()]);
      },
    },
  ]),
];
