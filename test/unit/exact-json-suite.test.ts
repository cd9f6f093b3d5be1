import { expect } from 'chai';
import { JsonSyntaxError, readJson } from '../../src/exact-json.js';
import { DECISIONS, bytesOf, named, present, reason, type Verdict } from './json-test-suite.js';

/** As the HTTP interface takes a body: not UTF-8 is refused, and a byte order mark is not swallowed. */
function decode(name: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(name));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function verdict(name: string): Verdict {
  const text = decode(name);
  if (text === undefined) return 'refused';
  try {
    return readJson(text).tooDeep ? 'accepted, too deep for values' : 'accepted';
  } catch (error) {
    if (error instanceof JsonSyntaxError) return 'refused';
    throw error;
  }
}

(present ? describe : describe.skip)(`readJson on the public parsing cases${reason}`, () => {
  it('finds all 318 of them', () => {
    expect({ y: named('y_').length, n: named('n_').length, i: named('i_').length }).to.deep.equal({
      y: 95,
      n: 188,
      i: 35,
    });
  });

  it('accepts each of the 95 that are JSON', () => {
    expect(named('y_').filter((name) => verdict(name) !== 'accepted')).to.deep.equal([]);
  });

  it('refuses each of the 188 that are not', () => {
    expect(named('n_').filter((name) => verdict(name) !== 'refused')).to.deep.equal([]);
  });

  it('decides the 35 open ones as published', () => {
    expect(Object.fromEntries(named('i_').map((name) => [name, verdict(name)]))).to.deep.equal(DECISIONS);
  });

  it('reports duplicate members in exactly the cases that are about them', () => {
    const reported = named('y_').filter((name) => readJson(decode(name) ?? '').duplicates.length > 0);
    expect(reported).to.have.members([
      'y_object_duplicated_key.json',
      'y_object_duplicated_key_and_value.json',
    ]);
  });
});
