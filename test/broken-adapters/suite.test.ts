import { expect } from 'chai';
import { outcomesOf } from '../contract/rejection.js';
import { casesOf } from '../contract/suite.js';

interface Subject {
  readonly reopen?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Runs a case that needs `reopen`. Resolves to what happened: text, or the error of the case. */
async function eventsOf(
  members: Partial<Subject>,
  run = async () => {},
  without: readonly string[] = [],
): Promise<readonly unknown[]> {
  const events: unknown[] = [];
  const running: Promise<void>[] = [];
  const it = (_title: string, body: () => Promise<void>) => running.push(body());
  const skip = (title: string) => events.push(`skipped: ${title}`);
  const close = async (): Promise<void> => void events.push('closed');
  const open = async () => ({ close, ...members });
  const cases = casesOf<Subject>({ it: Object.assign(it, { skip }), open, without });
  cases('reopen')('lasts', run);
  const { errors } = await outcomesOf(running);
  return [...events, ...errors];
}

const fault = new Error('a broken clause');
const failing = () => Promise.reject(fault);
const durable = { reopen: async () => {} };

describe('A case of a contract suite', () => {
  it('closes what it opened, whether it passes or fails', async () => {
    expect(await eventsOf(durable)).to.have.ordered.members(['closed']);
    expect(await eventsOf(durable, failing)).to.have.ordered.members(['closed', fault]);
  });

  it('fails if closing fails, but with its own error if it has one', async () => {
    const stuck = new Error('cannot close');
    const unclosable = { ...durable, close: () => Promise.reject(stuck) };
    expect(await eventsOf(unclosable)).to.have.ordered.members([stuck]);
    expect(await eventsOf(unclosable, failing)).to.have.ordered.members([fault]);
  });

  it('fails if what it needs is missing, and is skipped if `without` names it', async () => {
    expect(String(await eventsOf({}))).to.match(/^closed,.*`open` gave no reopen/);
    const skipped = await eventsOf({}, failing, ['reopen']);
    expect(skipped).to.have.ordered.members(['skipped: lasts (without reopen)']);
  });
});
