import { expect } from 'chai';
import {
  JsonNumber,
  layOut,
  readJson,
  readTokens,
  writeJson,
} from '../../../../src/adapters/http/docs-page/json-text.js';

const laidOut = (text: string): string =>
  layOut(readTokens(text) ?? [])
    .map((token) => token.text)
    .join('');

describe('The JSON of the docs page', () => {
  it('keeps every number as it is written', () => {
    for (const number of ['9223372036854775807', '-9223372036854775808', '1.50', '1E+400', '-0', '0.1e-7']) {
      expect(readJson(number)).to.deep.equal(new JsonNumber(number));
      expect(writeJson(readJson(`{"a":[${number}]}`))).to.equal(`{"a":[${number}]}`);
      expect(laidOut(`{"a":${number}}`)).to.equal(`{\n  "a": ${number}\n}`);
    }
  });

  it('reads texts, literals, and objects with any member', () => {
    const text = '{"a\\"\\\\":"\\u00e9\\n}]","":[true,false,null],"__proto__":{"b":[]}}';
    const read = readJson(text);
    expect(read).to.deep.equal(JSON.parse(text));
    expect(JSON.parse(writeJson(read))).to.deep.equal(JSON.parse(text));
  });

  it('refuses what is not JSON', () => {
    for (const text of ['', '{', '[1,]', '{"a" 1}', '01', '1 2', '"\n"', 'nul']) {
      expect(() => readJson(text), text).to.throw(SyntaxError);
    }
  });

  it('lays out in lines, and changes nothing but the space between tokens', () => {
    expect(laidOut('[{"id":1,"tags":[],"of":{}},\t{"id":2,"tags":["a, b: {c}"]}]\n')).to.equal(
      `[
  {
    "id": 1,
    "tags": [],
    "of": {}
  },
  {
    "id": 2,
    "tags": [
      "a, b: {c}"
    ]
  }
]`,
    );
  });

  it('tells names from other texts', () => {
    expect(readTokens('{"a":"b"}')?.map(({ kind }) => kind)).to.deep.equal([
      'punctuation',
      'name',
      'punctuation',
      'string',
      'punctuation',
    ]);
  });

  it('has no tokens of what is no JSON, nor of nothing', () => {
    for (const text of ['', '  ', '<html>', '{"a":x}', 'undefined', "{'a':1}", '"unfinished']) {
      expect(readTokens(text), text).to.equal(undefined);
    }
  });

  it('takes long and deep texts', () => {
    const long = JSON.stringify('x'.repeat(400_000) + '\\"'.repeat(50_000));
    expect(readTokens(long)?.map(({ text }) => text)).to.deep.equal([long]);
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    expect(readTokens(deep)).to.have.length(40_000);
  });
});
