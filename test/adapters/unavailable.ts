import { checkRejectsWithCode } from '../contract/rejection.js';

/** Checks that a call rejects because the store is unavailable. Resolves to the text of its cause. */
export async function unavailable(call: Promise<unknown>): Promise<string> {
  const { cause } = await checkRejectsWithCode(call, 'service_unavailable');
  return String(cause);
}
