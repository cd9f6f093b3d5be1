import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { assert } from '../contract/assert.js';

/** What an expression is in a realm of its own. */
const elsewhere = (expression: string): unknown => runInNewContext(expression);

describe('The assertions of the contracts', () => {
  it('take what was made in another realm for its equal made here', () => {
    const key = { id: 'k1', scopes: ['pets:read'], createdAt: new Date(5), expiresAt: undefined };
    const other = elsewhere(
      '({ id: "k1", scopes: ["pets:read"], createdAt: new Date(5), expiresAt: undefined })',
    );
    assert.deepEqual(other, key);
    assert.deepEqual([other, [other]], [key, [key]]);
  });

  it('tell apart what differs, in another realm and in this one', () => {
    for (const [actual, expected] of [
      [elsewhere('({ a: 1 })'), { a: 2 }],
      [elsewhere('({ a: 1, b: undefined })'), { a: 1 }],
      [elsewhere('[1, 2]'), [1]],
      [elsewhere('new Date(5)'), new Date(6)],
      [elsewhere('({ 0: 1 })'), [1]],
      [elsewhere('[1n]'), [1]],
      [{ a: 1n }, { a: 1 }],
      [new Error(), {}],
      [Object.create(null), {}],
      [null, {}],
    ]) {
      expect(() => assert.deepEqual(actual, expected))
        .to.throw(Error)
        .with.property('name', 'AssertionError');
    }
  });
});
