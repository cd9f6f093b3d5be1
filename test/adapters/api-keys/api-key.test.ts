import { expect } from 'chai';
import {
  apiKeyGenerator,
  hashApiKey,
  readApiKeyId,
  staticKeyFault,
  staticKeyId,
} from '../../../src/adapters/api-keys/api-key.js';
import { withChecksum } from './fixtures.js';

const ID = '4fZk02Qa';
const SECRET = 'a1'.repeat(22).slice(0, 43);

describe('A managed key', () => {
  const generated = Array.from({ length: 500 }, apiKeyGenerator());

  it('has its id, 43 digits of secret and the checksum of everything before', () => {
    for (const { id, key } of generated) {
      expect(key).to.match(new RegExp(`^ast_live_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`));
      expect(key).to.equal(withChecksum(key.slice(0, key.lastIndexOf('_'))));
      expect(readApiKeyId(key), key).to.equal(id);
    }
  });

  it('never has the id or the secret of another', () => {
    expect(new Set(generated.map(({ id }) => id))).to.have.property('size', generated.length);

    const secrets = new Set(generated.map(({ key }) => key.split('_')[3]));

    expect(secrets).to.have.property('size', generated.length);
  });

  it('has a secret in which every digit occurs about equally often', () => {
    // The first digit of 43 is at most 'F': 2^256 is less than 62^43.
    const digits = generated.flatMap(({ key }) => (key.split('_')[3] ?? '').slice(1).split(''));
    const counts = Map.groupBy(digits, (digit) => digit);

    expect(counts, 'digits that occur').to.have.property('size', 62);
    // 21,000 digits: 339 each, give or take seven standard deviations.
    for (const [digit, { length }] of counts) expect(length, digit).to.be.within(210, 468);
  });

  it('is stored as the SHA-256 of the whole key', () => {
    for (const { key, hash } of generated.slice(0, 10)) expect(hash).to.equal(hashApiKey(key));
    expect(hashApiKey('abc')).to.equal(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('is no text of another form, even with the right checksum', () => {
    for (const content of [
      `asx_live_${ID}_${SECRET}`,
      `AST_live_${ID}_${SECRET}`,
      `ast_${ID}_${SECRET}`,
      `ast_LIVE_${ID}_${SECRET}`,
      `ast_test_${ID}_${SECRET}`,
      `ast_live_${ID}0_${SECRET}`,
      `ast_live_${ID}_${SECRET.slice(1)}`,
      `ast_live_${ID}_${SECRET.slice(1)}é`,
      ` ast_live_${ID}_${SECRET}`,
    ]) {
      expect(readApiKeyId(withChecksum(content)), content).to.equal(undefined);
    }
  });

  it('is not a text with something after it, nor with another letter anywhere', () => {
    const key = withChecksum(`ast_live_${ID}_${SECRET}`);

    expect(readApiKeyId(key)).to.equal(ID);
    for (const tail of ['\n', ' ', '=', '0', '_'])
      expect(readApiKeyId(key + tail), `with ${tail} after it`).to.equal(undefined);
    for (const [at, letter] of key.split('').entries()) {
      const other = `${key.slice(0, at)}${letter === 'b' ? 'c' : 'b'}${key.slice(at + 1)}`;
      expect(readApiKeyId(other), other).to.equal(undefined);
    }
  });
});

describe('A static key', () => {
  it('is a bearer token of RFC 6750, of one character or more', () => {
    for (const key of ['a', '0', '-', '.', '_', '~', '+', '/', 'a=', 'dGVzdA==', 'ast_live_x']) {
      expect(staticKeyFault(key), key).to.equal(undefined);
    }

    const others = ['', ' ', '=', 'a b', ' a', 'a\n', 'a=b', 'a,b', 'a"', 'clé', 'a\0', 'k%20'];

    for (const text of others) {
      expect(staticKeyFault(text), text).to.be.a('string');
    }
  });

  it('has an id that stays the same from version to version and is no part of its hash', () => {
    expect(staticKeyId('dev-key-0123456789')).to.equal('static-fa56c1f5fed1');
    expect(hashApiKey('dev-key-0123456789')).to.not.include('fa56c1f5fed1');
  });
});
