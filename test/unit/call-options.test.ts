import { rejects } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { unlessAborted } from '../../src/application/call-options.js';

const unfinished = new Promise<never>(() => {});
const reason = new Error('the caller left');

describe('unlessAborted', () => {
  it('rejects at an abort, and leaves no listener while the work continues', async () => {
    const abort = new AbortController();
    const call = unlessAborted(unfinished, abort.signal);
    abort.abort(reason);
    await rejects(call, reason);
    expect(getEventListeners(abort.signal, 'abort')).to.be.empty;
  });

  it('adds no listener to a signal that is already aborted', async () => {
    const signal = AbortSignal.abort(reason);
    await rejects(unlessAborted(unfinished, signal), reason);
    expect(getEventListeners(signal, 'abort')).to.be.empty;
  });
});
