import { expect } from 'chai';
import * as fc from 'fast-check';
import { readCursor, writeCursor } from '../../src/application/page-cursor.js';
import { InvalidCursorError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import { PET_STATUSES } from '../../src/domain/pet.js';

const ids = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.constantFrom(0n, 1n, -1n, INT64_MIN, INT64_MAX),
);
const filters = fc.constantFrom(undefined, ...PET_STATUSES);

describe('a page cursor', () => {
  it('is read back as the id that it was written for, with the same filter', () => {
    fc.assert(
      fc.property(ids, filters, (id, status) => {
        expect(readCursor(writeCursor(id, status), status)).to.equal(id);
      }),
    );
  });

  it('is refused with every other filter', () => {
    fc.assert(
      fc.property(ids, filters, filters, (id, written, read) => {
        fc.pre(written !== read);
        expect(() => readCursor(writeCursor(id, written), read)).to.throw(InvalidCursorError);
      }),
    );
  });

  it('is refused with any one character changed', () => {
    const characters = fc.oneof(
      fc.constantFrom(...Array.from('0123456789abcdefABCDEF')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(ids, filters, fc.nat({ max: 25 }), characters, (id, status, place, character) => {
        const cursor = writeCursor(id, status);
        const altered = cursor.slice(0, place) + character + cursor.slice(place + 1);
        fc.pre(altered !== cursor);
        expect(() => readCursor(altered, status)).to.throw(InvalidCursorError);
      }),
    );
  });

  it('is refused with a part cut out or put in, and with two neighbours exchanged', () => {
    const places = fc.nat({ max: 26 });
    fc.assert(
      fc.property(ids, filters, places, places, fc.string(), (id, status, from, to, extra) => {
        const cursor = writeCursor(id, status);
        const swapped =
          cursor.slice(0, from) + cursor.charAt(from + 1) + cursor.charAt(from) + cursor.slice(from + 2);
        for (const altered of [cursor.slice(0, from) + extra + cursor.slice(to), swapped]) {
          if (altered === cursor) continue;
          expect(() => readCursor(altered, status), altered).to.throw(InvalidCursorError);
        }
      }),
    );
  });

  it('is refused when it is no text, or text of any other kind', () => {
    for (const cursor of [undefined, null, 5, 5n, {}, [writeCursor(1n, undefined)]]) {
      expect(() => readCursor(cursor, undefined)).to.throw(InvalidCursorError);
    }
    fc.assert(
      fc.property(fc.string(), (cursor) => {
        expect(() => readCursor(cursor, undefined)).to.throw(InvalidCursorError);
      }),
    );
  });

  it('stays good: cursors that were given out are read for ever', () => {
    expect(readCursor('100000000000000001fbe226a4', undefined)).to.equal(1n);
    expect(readCursor('137fffffffffffffff583a30de', 'sold')).to.equal(INT64_MAX);
  });
});
