import { expect } from 'chai';
import { rejectionOf } from '../contract/rejection.js';
import { storeCases } from '../contract/store-subject.js';

describe('A case of a store suite', () => {
  it('closes what it opened, even if a reopened store cannot be closed', async () => {
    const closed: string[] = [];
    const running: Promise<void>[] = [];
    const it = (_title: string, run: () => Promise<void>) => running.push(run());
    const open = async () => ({
      pets: {},
      reopen: async () => ({ close: () => Promise.reject(new Error('cannot close')) }),
      close: async () => void closed.push('the store'),
    });
    const test = storeCases({ describe, it: Object.assign(it, { skip: it }), open })('pets');
    test('reopens', async ({ reopen }) => void (await reopen()));
    expect(String(await rejectionOf(Promise.all(running)))).to.include('cannot close');
    expect(closed).to.deep.equal(['the store']);
  });
});
