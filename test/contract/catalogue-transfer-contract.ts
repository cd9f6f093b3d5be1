import { animalCases } from './catalogue-transfer/animals.js';
import { claimCases } from './catalogue-transfer/claims.js';
import { endingCases } from './catalogue-transfer/ending.js';
import { idCases } from './catalogue-transfer/ids.js';
import { keyCases } from './catalogue-transfer/keys.js';
import { outlivingCases } from './catalogue-transfer/outliving.js';
import type { CatalogueTransferSubject } from './catalogue-transfer/subject.js';
import { surveyingCases } from './catalogue-transfer/surveying.js';
import type { Contract } from './contract.js';

export type { CatalogueHandles, CatalogueTransferSubject } from './catalogue-transfer/subject.js';

/** What every store promises that a catalogue can be moved from and to. */
export const catalogueTransferContract: Contract<CatalogueTransferSubject> = {
  port: 'CatalogueTransfer',
  cases: [
    ...animalCases,
    ...claimCases,
    ...keyCases,
    ...idCases,
    ...surveyingCases,
    ...endingCases,
    ...outlivingCases,
  ],
};
