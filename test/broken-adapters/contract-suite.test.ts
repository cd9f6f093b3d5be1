import { expect } from 'chai';
import { rejectionOf } from '../contract/rejection.js';
import { casesOf } from '../contract/suite.js';

interface Opened {
  readonly reopen?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Declares a case that needs `reopen`, on what these members say. */
function declared(members: Partial<Opened>, without: readonly string[] = [], run = async () => {}) {
  const events: string[] = [];
  const cases: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => void events.push('closed');
  casesOf<Opened>({
    it: Object.assign((_title: string, body: () => Promise<void>) => cases.push(body), {
      skip: (title: string) => events.push(`skipped: ${title}`),
    }),
    open: async () => ({ close, ...members }),
    without,
  })('reopen')('lasts', run);
  return { events, runAll: () => Promise.all(cases.map((body) => body())) };
}

const durable = { reopen: async () => {} };
const unclosable = { ...durable, close: () => Promise.reject(new Error('cannot close')) };

describe('A case of a contract suite', () => {
  it('closes what it opened, whether it passes or fails', async () => {
    const passing = declared(durable);
    await passing.runAll();
    expect(passing.events).to.deep.equal(['closed']);

    const fault = new Error('a broken clause');
    const failing = declared(durable, [], () => Promise.reject(fault));
    expect(await rejectionOf(failing.runAll())).to.equal(fault);
    expect(failing.events).to.deep.equal(['closed']);
  });

  it('reports the error of the case even if closing fails, too', async () => {
    const fault = new Error('a broken clause');
    const failing = declared(unclosable, [], () => Promise.reject(fault));
    expect(await rejectionOf(failing.runAll())).to.equal(fault);
    expect(String(await rejectionOf(declared(unclosable).runAll()))).to.include('close');
  });

  it('fails if what it needs is missing, and is skipped by its name where `without` has it', async () => {
    const failing = declared({});
    expect(String(await rejectionOf(failing.runAll()))).to.include('`open` gave no reopen');
    expect(failing.events).to.deep.equal(['closed']);

    expect(declared({}, ['reopen']).events).to.deep.equal(['skipped: lasts (without reopen)']);
  });
});
