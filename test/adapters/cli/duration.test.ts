import { expect } from 'chai';
import { readDuration } from '../../../src/adapters/cli/duration.js';

describe('readDuration', () => {
  const READ: ReadonlyArray<readonly [text: string, milliseconds: number]> = [
    ['0', 0],
    ['0s', 0],
    ['1ms', 1],
    ['500ms', 500],
    ['5s', 5_000],
    ['2m', 120_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['007s', 7_000],
    ['999999999d', 86_399_999_913_600_000],
  ];
  for (const [text, milliseconds] of READ) {
    it(`takes ${text} as ${milliseconds} ms`, () => {
      expect(readDuration(text)).to.equal(milliseconds);
    });
  }

  for (const text of [
    '',
    '5',
    '00',
    's',
    '-1s',
    '+1s',
    '1.5h',
    '1 h',
    ' 1h',
    '1h ',
    '1h30m',
    '1H',
    '1w',
    '1e3s',
  ]) {
    it(`refuses ${JSON.stringify(text)}, naming the form`, () => {
      expect(() => readDuration(text)).to.throw('must be a duration like 500ms, 5s, 2m, 24h or 90d');
    });
  }

  it('refuses more than nine digits', () => {
    expect(() => readDuration('1000000000ms')).to.throw('must be a duration');
  });
});
