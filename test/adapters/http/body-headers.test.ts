import { expect } from 'chai';
import { decodeUtf8, requireJsonBody } from '../../../src/adapters/http/request/body-headers.js';
import { HttpError } from '../../../src/adapters/http/http-error.js';
import { requestWith } from './request-with.js';

/** The error that `judge` throws. */
function refusalOf(judge: () => unknown): HttpError {
  try {
    judge();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('requireJsonBody', () => {
  const TAKEN: ReadonlyArray<Readonly<Record<string, string>>> = [
    {},
    { 'content-type': 'application/json' },
    { 'content-type': 'Application/JSON' },
    { 'content-type': ' application/json ; charset=utf-8' },
    { 'content-type': 'application/json;charset=latin1' },
    { 'content-type': 'application/json; profile="a;b"; v=1' },
    { 'content-type': 'application/json;' },
    { 'content-encoding': 'identity' },
    { 'content-encoding': ' Identity ' },
  ];
  for (const headers of TAKEN) {
    it(`takes ${JSON.stringify(headers)}`, () => {
      expect(() => requireJsonBody(requestWith(headers))).to.not.throw();
    });
  }

  const OTHER_TYPES = [
    'application/x-www-form-urlencoded',
    'text/plain',
    'text/json',
    'application/jsonp',
    'json',
    '*/*',
    'application/vnd.api+json',
    'application/merge-patch+json',
    'multipart/form-data; boundary=x',
    '',
    'application/json, application/json',
    'text/plain; x=application/json',
  ];
  for (const type of OTHER_TYPES) {
    it(`refuses ${JSON.stringify(type)}, naming the header to send`, () => {
      const { code, message, headers } = refusalOf(() =>
        requireJsonBody(requestWith({ 'content-type': type })),
      );
      expect(code).to.equal('unsupported_media_type');
      expect(message).to.include('Content-Type: application/json');
      expect(headers).to.deep.equal({ Accept: 'application/json' });
    });
  }

  for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'identity, identity', '']) {
    it(`refuses the encoding ${JSON.stringify(encoding)}, naming the header to leave out`, () => {
      const request = requestWith({ 'content-encoding': encoding });
      const { code, message, headers } = refusalOf(() => requireJsonBody(request));
      expect(code).to.equal('unsupported_media_type');
      expect(message).to.include('Content-Encoding');
      expect(headers).to.deep.equal({ 'Accept-Encoding': 'identity' });
    });
  }

  it('speaks of the type first when both are wrong', () => {
    const request = requestWith({ 'content-type': 'text/plain', 'content-encoding': 'gzip' });
    expect(refusalOf(() => requireJsonBody(request)).headers).to.deep.equal({ Accept: 'application/json' });
  });
});

describe('decodeUtf8', () => {
  const [UMLAUT, TEXT] = [bytes(0x22, 0xc3, 0xbc, 0x22), '"ü"'];

  const UTF8 = [
    undefined,
    'application/json',
    'application/json; charset=utf-8',
    'application/json;CHARSET=UTF-8',

    'application/json; charset="utf-8"',
    'application/json; charset = utf8',
    'application/json; charset=utf-8 ',
    'application/json; x="a;charset=latin1"; charset=utf-8',
    'application/json; xcharset=latin1',
    'application/json; x="a\\"; charset=latin1"',
    'application/json; charset=utf-8; charset=latin1',
  ];
  for (const type of UTF8) {
    it(`reads UTF-8 for ${JSON.stringify(type) ?? 'no Content-Type'}`, () => {
      expect(decodeUtf8(UMLAUT, type)).to.equal(TEXT);
    });
  }

  const OTHERS = [
    'latin1',
    'iso-8859-1',
    'utf-16',
    'UTF-16LE',
    'us-ascii',
    'utf-32',
    'utf-88',
    '',
    '""',
    '"latin1"',
  ].map((charset) => `application/json; charset=${charset}`);
  for (const type of [...OTHERS, 'application/json;charset=latin1;charset=utf-8']) {
    it(`refuses ${JSON.stringify(type)}`, () => {
      expect(refusalOf(() => decodeUtf8(UMLAUT, type))).to.include({ code: 'malformed_json' });
    });
  }

  it('keeps a byte order mark, for the parser to refuse', () => {
    expect(decodeUtf8(bytes(0xef, 0xbb, 0xbf, 0x7b, 0x7d), undefined)).to.equal('\ufeff{}');
  });

  const INVALID: ReadonlyArray<readonly [title: string, ...values: number[]]> = [
    ['Latin-1', 0x22, 0xfc, 0x22],
    ['a text that ends inside a character', 0x22, 0xc3],
    ['an overlong form', 0xc0, 0xaf],
    ['a surrogate', 0xed, 0xa0, 0x80],
    ['a code point above U+10FFFF', 0xf4, 0x90, 0x80, 0x80],
    ['UTF-16', 0xff, 0xfe, 0x7b, 0x00],
  ];
  for (const [title, ...values] of INVALID) {
    it(`refuses ${title}`, () => {
      expect(refusalOf(() => decodeUtf8(bytes(...values), undefined))).to.include({ code: 'malformed_json' });
    });
  }

  it('is done with a header made to be slow as soon as with any other', () => {
    const began = performance.now();
    for (const part of [';', '; ', ';a', ';a=', ';a="', '; a = "\\', ' ']) {
      decodeUtf8(UMLAUT, `application/json${part.repeat(16_000 / part.length)}`);
    }
    expect(performance.now() - began).to.be.below(5_000);
  });
});
