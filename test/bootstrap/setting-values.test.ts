import { expect } from 'chai';
import {
  oneOf,
  readBytes,
  readDate,
  readInteger,
  readMilliseconds,
  readServerUrl,
} from '../../src/bootstrap/setting-values.js';

describe('The readers of single settings', () => {
  describe('readInteger', () => {
    it('takes both bounds and what is between them, with zeros in front', () => {
      const read = readInteger(-1, 100);
      expect(['0', '007', '100'].map(read)).to.deep.equal([0, 7, 100]);
    });

    it('refuses anything that is not plain digits', () => {
      for (const text of ['', '-1', '+1', '1.0', '1e1', '1_0', '0x1', 'Infinity', '٣', '1\n']) {
        expect(() => readInteger(-1, 100)(text), text).to.throw('must be an integer from -1 to 100');
      }
    });
  });

  describe('readMilliseconds', () => {
    it('takes as much as a timer of Node.js can wait, and no more: beyond it a timer ends at once', () => {
      expect(readMilliseconds(0)('24d')).to.equal(2_073_600_000);
      expect(readMilliseconds(0)('596h')).to.equal(2_145_600_000);
      expect(() => readMilliseconds(0)('597h')).to.throw('must be from 0ms to 24d');
    });

    it('takes its minimum, and nothing below', () => {
      expect(readMilliseconds(2)('2ms')).to.equal(2);
      expect(() => readMilliseconds(2)('1ms')).to.throw('must be from 2ms to 24d');
    });
  });

  describe('readBytes', () => {
    const READ: ReadonlyArray<readonly [text: string, bytes: number]> = [
      ['1', 1],
      ['1b', 1],
      ['65536', 65_536],
      ['64kb', 65_536],
      ['64KB', 65_536],
      ['1Mb', 1_048_576],
      ['16mb', 16_777_216],
      ['16777216', 16_777_216],
    ];
    for (const [text, bytes] of READ) {
      it(`takes ${text} as ${bytes} bytes`, () => {
        expect(readBytes(text)).to.equal(bytes);
      });
    }
  });

  describe('readDate', () => {
    const READ: ReadonlyArray<readonly [text: string, instant: string]> = [
      ['2026-11-20', '2026-11-20T00:00:00.000Z'],
      ['2028-02-29', '2028-02-29T00:00:00.000Z'],
      ['2026-11-20T10:20:30Z', '2026-11-20T10:20:30.000Z'],
      ['2026-11-20T10:20:30.5Z', '2026-11-20T10:20:30.500Z'],
      ['2026-11-20T00:20:30+02:00', '2026-11-19T22:20:30.000Z'],
    ];
    for (const [text, instant] of READ) {
      it(`takes ${text} as ${instant}`, () => {
        expect(readDate(text).toISOString()).to.equal(instant);
      });
    }

    it('refuses days and hours that do not exist, and forms that leave the zone open', () => {
      for (const text of [
        '2026-02-29',
        '2026-02-31T10:00:00Z',
        '2026-00-01',
        '2026-11-20T25:00:00Z',
        '2026-11-20T10:60:00Z',

        '2026-11-20T10:20:30',
        '2026-11',
        '2026',
        '20 Nov 2026',
        '+002026-11-20',
        ' 2026-11-20',
        '2026-11-20Z',
      ]) {
        expect(() => readDate(text), text).to.throw('must be a date like 2026-11-20');
      }
    });
  });

  describe('oneOf', () => {
    it('takes what is listed, as it is listed', () => {
      expect(oneOf(['on', 'off'])('off')).to.equal('off');
      for (const text of ['OFF', ' off', 'on,off', 'toString']) {
        expect(() => oneOf(['on', 'off'])(text), text).to.throw('must be one of on, off');
      }
    });
  });

  describe('readServerUrl', () => {
    const READ: ReadonlyArray<readonly [text: string, url: string]> = [
      ['http://localhost:8080/v1', 'http://localhost:8080/v1'],
      ['https://example.org:443/v1', 'https://example.org/v1'],
      ['HTTPS://Example.ORG/Shop/v1', 'https://example.org/Shop/v1'],
      ['http://[::1]:80/v1', 'http://[::1]/v1'],
      ['https://bücher.example/v1', 'https://xn--bcher-kva.example/v1'],
    ];
    for (const [text, url] of READ) {
      it(`takes ${text} as ${url}`, () => {
        expect(readServerUrl(text)).to.equal(url);
      });
    }
  });
});
