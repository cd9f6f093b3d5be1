import { assert } from '../assert.js';
import type { Call } from '../../../src/application/animal-store.js';
import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { append } from './updating.js';
import { sampleKey, type ApiKeyRepositoryCase } from './subject.js';

const OPERATIONS: Readonly<Record<string, (keys: ApiKeyRepository, call?: Call) => Promise<unknown>>> = {
  add: (keys, call) => keys.add(sampleKey({ id: 'k2' }), call),
  findById: (keys, call) => keys.findById('k1', call),
  list: (keys, call) => keys.list(call),
  update: (keys, call) => keys.update('k1', append('changed'), call),
};

export const endingCases: readonly ApiKeyRepositoryCase[] = [
  {
    name: 'closes twice, and twice at once',
    async run({ keys }) {
      await Promise.all([keys.close(), keys.close()]);
      await keys.close();
    },
  },
  ...Object.entries(OPERATIONS).flatMap(([operation, call]): ApiKeyRepositoryCase[] => [
    {
      name: `rejects with service_unavailable after close: ${operation}`,
      async run({ keys }) {
        await keys.add(sampleKey());
        await keys.close();
        await rejectsWithCode(call(keys), 'service_unavailable');
      },
    },
    {
      name: `rejects with the reason of a signal that is aborted already, and changes nothing: ${operation}`,
      async run({ keys }) {
        await keys.add(sampleKey());
        await rejectsWhenAborted((aborted) => call(keys, aborted));
        assert.deepEqual(await keys.list(), [sampleKey()]);
      },
    },
  ]),
];
