import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  environmentFault,
  generateApiKey,
  hashApiKey,
  readApiKey,
} from '../../../src/adapters/api-keys/api-key-format.js';
import { InvalidParameterError } from '../../../src/domain/errors.js';
import { BASE62_DIGITS, checksumOf, numberOf, withChecksum } from './compose-key.js';

const ID = '0aZ9bY8c';
const SECRET = 'x'.repeat(43);

describe('The format of managed keys', () => {
  describe('10,000 generated keys', () => {
    const generated = Array.from({ length: 10_000 }, () => generateApiKey('live'));
    const parts = generated.map(({ key }) => key.split('_'));

    it('differ in their ids, their texts and their hashes', () => {
      for (const part of ['id', 'key', 'hash'] as const) {
        expect(new Set(generated.map((key) => key[part])).size).to.equal(10_000);
      }
    });

    it('consist of ast, the environment, 8 characters of id, 43 of secret and the CRC-32 of all before it', () => {
      for (const { id, key } of generated) {
        expect(key).to.match(/^ast_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
        expect(key.split('_')[2]).to.equal(id);
        const joint = key.lastIndexOf('_');
        expect(key.slice(joint + 1)).to.equal(checksumOf(key.slice(0, joint)));
      }
    });

    it('have secrets of 256 bits, each bit set in about half of them', () => {
      const secrets = parts.map(([, , , secret = '']) => numberOf(secret));
      for (let bit = 0n; bit < 256n; bit += 1n) {
        const set = secrets.filter((secret) => (secret >> bit) & 1n).length;
        // 5,000 and ten standard deviations.
        expect(set, `bit ${bit}`).to.be.within(4_500, 5_500);
      }
      expect(secrets.every((secret) => secret < 2n ** 256n)).to.equal(true);
    });

    it('have ids in which every character is equally frequent', () => {
      const ids = parts.map(([, , id = '']) => id).join('');
      for (const digit of BASE62_DIGITS) {
        // 80,000 / 62 and six standard deviations; a byte modulo 62 would be off by eight.
        expect(ids.split(digit).length - 1, digit).to.be.within(1_075, 1_505);
      }
    });

    it('are read back to their ids', () => {
      for (const { id, key } of generated) expect(readApiKey(key)).to.deep.equal({ id });
    });

    it('are hashed as a whole, by SHA-256 in lower-case hexadecimal', () => {
      for (const { key, hash } of generated) expect(hash).to.equal(hashApiKey(key));
      expect(hashApiKey('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    });
  });

  it('takes any environment word of 1 to 16 lower-case letters and digits', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,16}$/);
    fc.assert(
      fc.property(word, (environment) => {
        const { id, key } = generateApiKey(environment);
        expect(environmentFault(environment)).to.equal(undefined);
        expect(key.startsWith(`ast_${environment}_${id}_`)).to.equal(true);
        expect(readApiKey(key)).to.deep.equal({ id });
      }),
    );
  });

  for (const environment of ['', 'Live', 'eu_live', 'eu-live', 'live ', 'live\n', 'é', 'a'.repeat(17)]) {
    it(`refuses the environment word ${JSON.stringify(environment)}, naming the field`, () => {
      expect(environmentFault(environment)).to.be.a('string');
      expect(() => generateApiKey(environment))
        .to.throw(InvalidParameterError)
        .with.nested.property('faults[0].field', 'environment');
    });
  }

  it('reads a key whose parts have their lengths', () => {
    expect(readApiKey(withChecksum(`ast_live_${ID}_${SECRET}`))).to.deep.equal({ id: ID });
  });

  for (const [fault, content] of Object.entries({
    'another kind of key': `asx_live_${ID}_${SECRET}`,
    'the kind in capitals': `AST_live_${ID}_${SECRET}`,
    'no environment': `ast_${ID}_${SECRET}`,
    'an empty environment': `ast__${ID}_${SECRET}`,
    'an environment in capitals': `ast_LIVE_${ID}_${SECRET}`,
    'an environment of two words': `ast_eu_live_${ID}_${SECRET}`,
    'an environment of 17 characters': `ast_${'a'.repeat(17)}_${ID}_${SECRET}`,
    'an id of 7 characters': `ast_live_${ID.slice(1)}_${SECRET}`,
    'an id of 9 characters': `ast_live_${ID}0_${SECRET}`,
    'an id with another character': `ast_live_${ID.slice(1)}-_${SECRET}`,
    'a secret of 42 characters': `ast_live_${ID}_${SECRET.slice(1)}`,
    'a secret of 44 characters': `ast_live_${ID}_${SECRET}x`,
    'a secret with another character': `ast_live_${ID}_${SECRET.slice(1)}é`,
    'a whole key before its checksum': generateApiKey('live').key,
    'text before it': ` ast_live_${ID}_${SECRET}`,
    'a line before it': `\nast_live_${ID}_${SECRET}`,
  })) {
    it(`does not read a key with ${fault}, though its checksum is right`, () => {
      expect(readApiKey(withChecksum(content))).to.equal(undefined);
    });
  }

  it('does not read a key with text after it', () => {
    const { key } = generateApiKey('live');
    for (const tail of ['\n', ' ', '=', '0', '_']) expect(readApiKey(key + tail)).to.equal(undefined);
  });

  it('reads no other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        expect(readApiKey(text)).to.equal(undefined);
      }),
    );
  });
});
