import { throws } from 'node:assert/strict';
import { assert, expect } from 'chai';
import * as fc from 'fast-check';
import { digestApiKey } from '../../../src/adapters/api-keys/api-key-format.js';
import {
  isShortStaticKey,
  StaticApiKeys,
  staticKeyFault,
} from '../../../src/adapters/api-keys/static-api-keys.js';
import { InvalidParameterError } from '../../../src/domain/errors.js';

const token = fc.stringMatching(/^[A-Za-z0-9\-._~+/]{1,40}={0,3}$/);
const find = (keys: StaticApiKeys, key: string): string | undefined => keys.findId(digestApiKey(key));

describe('Static keys', () => {
  it('may be any bearer token of RFC 6750, of one character or more', () => {
    for (const key of ['a', '0', '-', '.', '_', '~', '+', '/', 'a=', 'dGVzdA==', 'ast_live_x']) {
      expect(staticKeyFault(key), key).to.equal(undefined);
    }
    fc.assert(fc.property(token, (key) => staticKeyFault(key) === undefined));
  });

  for (const key of ['', ' ', '=', '==', 'a b', ' a', 'a\n', 'a=b', 'a,b', 'a"', 'clé', 'a\0', 'k%20']) {
    it(`may not be ${JSON.stringify(key)}`, () => {
      expect(staticKeyFault(key)).to.be.a('string');
    });
  }

  it('are short below 16 characters', () => {
    expect(isShortStaticKey('a'.repeat(15))).to.equal(true);
    expect(isShortStaticKey('a'.repeat(16))).to.equal(false);
  });

  it('that are faulty are all named at once, by their position and never by their text', () => {
    const keys = ['good-key', 'secret one', '', 'good-too', 'secrét-two'];
    throws(
      () => new StaticApiKeys(keys),
      (error) => {
        assert(error instanceof InvalidParameterError);
        const positions = ['static key 2', 'static key 3', 'static key 5'];
        expect(error.faults.map(({ field }) => field)).to.deep.equal(positions);
        expect(error.message).to.not.match(/secr|one|two|good/);
        return true;
      },
    );
  });

  it('are found by their digest, and nothing else is', () => {
    fc.assert(
      fc.property(fc.uniqueArray(token, { minLength: 1, maxLength: 8 }), token, (keys, other) => {
        const known = new StaticApiKeys(keys);
        for (const key of keys) expect(find(known, key)).to.match(/^static-[0-9a-f]{12}$/);
        expect(find(known, other) !== undefined).to.equal(keys.includes(other));
      }),
    );
  });

  it('have ids that stay the same in any order and beside any other keys', () => {
    const id = find(new StaticApiKeys(['first-key']), 'first-key');
    expect(find(new StaticApiKeys(['second-key', 'first-key', 'third-key']), 'first-key')).to.equal(id);
    expect(find(new StaticApiKeys(['first-key', 'first-key']), 'first-key')).to.equal(id);
  });

  it('have ids that stay the same from version to version', () => {
    expect(find(new StaticApiKeys(['dev-key-0123456789']), 'dev-key-0123456789')).to.equal(
      'static-fa56c1f5fed1',
    );
  });

  it('have ids that differ from one another and are no part of the digest that is compared', () => {
    const keys = Array.from({ length: 1000 }, (_, number) => `key-${number}`);
    const known = new StaticApiKeys(keys);
    expect(new Set(keys.map((key) => find(known, key))).size).to.equal(1000);
    for (const key of keys) {
      expect(digestApiKey(key).toString('hex')).to.not.include(
        String(find(known, key)).slice('static-'.length),
      );
    }
  });
});
