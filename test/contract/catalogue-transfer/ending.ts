import { assert } from '../assert.js';
import type { Call } from '../../../src/application/animal-store.js';
import type { CatalogueTransfer } from '../../../src/application/ports/catalogue-transfer.js';
import { sampleKey } from '../api-key-repository/subject.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { petsWithIds, type CatalogueTransferCase } from './subject.js';

const claim = { scope: 's', token: 't', fingerprint: 'f', petId: 1n, keepUntil: new Date(2) };

const OPERATIONS: Readonly<Record<string, (transfer: CatalogueTransfer, call?: Call) => Promise<unknown>>> = {
  survey: (transfer, call) => transfer.survey(call),
  readPets: (transfer, call) => transfer.readPets({ limit: 1 }, call),
  writePets: (transfer, call) => transfer.writePets(petsWithIds(1n), call),
  readClaims: (transfer, call) => transfer.readClaims({ limit: 1, now: new Date(1) }, call),
  writeClaims: (transfer, call) => transfer.writeClaims([claim], call),
  readApiKeys: (transfer, call) => transfer.readApiKeys(call),
  writeApiKeys: (transfer, call) => transfer.writeApiKeys([sampleKey()], call),
  reserveIds: (transfer, call) => transfer.reserveIds(10n, call),
};

export const endingCases: readonly CatalogueTransferCase[] = [
  {
    name: 'closes twice, and twice at once',
    async run({ transfer }) {
      await Promise.all([transfer.close(), transfer.close()]);
      await transfer.close();
    },
  },
  ...Object.entries(OPERATIONS).flatMap(([operation, call]): CatalogueTransferCase[] => [
    {
      name: `rejects with service_unavailable after close: ${operation}`,
      async run({ transfer }) {
        await transfer.close();
        await rejectsWithCode(call(transfer), 'service_unavailable');
      },
    },
    {
      name: `rejects with the reason of a signal that is aborted already, and changes nothing: ${operation}`,
      async run({ transfer }) {
        const before = await transfer.survey();
        await rejectsWhenAborted((aborted) => call(transfer, aborted));
        assert.deepEqual(await transfer.survey(), before);
      },
    },
  ]),
];
