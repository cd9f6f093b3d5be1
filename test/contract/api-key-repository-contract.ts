import { copiesCases } from './api-key-repository/copies.js';
import { endingCases } from './api-key-repository/ending.js';
import { keepingCases } from './api-key-repository/keeping.js';
import { outlivingCases } from './api-key-repository/outliving.js';
import type { ApiKeyRepositorySubject } from './api-key-repository/subject.js';
import { updatingCases } from './api-key-repository/updating.js';
import type { Contract } from './contract.js';

export type { ApiKeyRepositorySubject } from './api-key-repository/subject.js';

/** What every store of API keys promises. */
export const apiKeyRepositoryContract: Contract<ApiKeyRepositorySubject> = {
  port: 'ApiKeyRepository',
  cases: [...keepingCases, ...copiesCases, ...updatingCases, ...endingCases, ...outlivingCases],
};
