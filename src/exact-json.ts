/*
 * JSON as RFC 8259 defines it, with 64-bit integers exact. JSON.parse rounds an integer beyond 2^53 to the next
 * double, drops all but the last of two equal members unseen, and JSON.stringify throws on a bigint.
 */

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_DIGITS = 19;
const isInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX;

/** How deep `readJson` builds values when not told. */
const DEFAULT_MAX_DEPTH = 16;
/** How many repeated members are listed: finding them stays cheap however many there are. */
const MAX_DUPLICATES = 16;

/** A number by RFC 8259, section 6: sign, whole part, fraction, exponent. */
const NUMBER = /(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?/y;
/** A longer slice keeps the whole text that it was cut from in memory, in V8, for as long as it lives. */
const LONGEST_COPIED_SLICE = 12;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The text is not JSON, or holds a member twice where that is refused. Never quotes the text at length. */
export class JsonSyntaxError extends SyntaxError {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'JsonSyntaxError';
  /** Where: the offset from the start of the text, in UTF-16 code units. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(`${message} at position ${position}`);
    this.position = position;
  }
}

/** A number as it was written. What it becomes is for the reader of the document to decide. */
export class JsonNumber {
  /** To the character as in the source, `7.0`, `7e0` and `7` differing. */
  readonly text: string;

  /** @throws {JsonSyntaxError} the text is not a JSON number. */
  constructor(text: string) {
    if (!isNumber(text)) throw new JsonSyntaxError('Expected a number and nothing else', 0);
    this.text = text;
  }

  /**
   * Exactly the integer that the number denotes, if it is one from -2^63 to 2^63 - 1: `7.0`, `70e-1` and `7` are
   * 7, `-0` is 0. `undefined` for any other number. Takes time in proportion to the text, whatever the exponent.
   */
  toInt64(): bigint | undefined {
    return toInt64(this.text);
  }
}

function isNumber(text: string): boolean {
  NUMBER.lastIndex = 0;
  return NUMBER.test(text) && NUMBER.lastIndex === text.length;
}

/** Decided from digits and exponent first: computing 10n ** 999999999n would hold the process for seconds. */
function toInt64(number: string): bigint | undefined {
  NUMBER.lastIndex = 0;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === '0') first += 1;
  if (first === digits.length) return 0n;
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  // How many zeros follow the last significant digit. That Number() rounds a huge exponent, up to Infinity, does
  // no harm: no text is long enough for its other digits to bring such a number back into range.
  const zeros = Number(exponent) - fraction.length + (digits.length - end);
  if (zeros < 0 || end - first + zeros > INT64_DIGITS) return undefined;
  const value = BigInt(sign + digits.slice(first, end) + '0'.repeat(zeros));
  return isInt64(value) ? value : undefined;
}

/** A value of a JSON text, its numbers being `Num`. Objects are plain, and every member is their own property. */
export type JsonValue<Num = JsonNumber> =
  null | boolean | string | Num | JsonValue<Num>[] | { [name: string]: JsonValue<Num> };

type Container<Num> = JsonValue<Num>[] | { [name: string]: JsonValue<Num> };

/** A JSON text as it was read, and what a strict reader may want to refuse in it. */
export interface JsonDocument {
  /** Of members with the same name in one object the last, as JSON.parse has it. */
  readonly value: JsonValue;
  /**
   * JSON Pointers (RFC 6901) of members whose name, unescaped, stood before in the same object: one for each
   * repetition, in the order of the text, the first 16. Not looked for in what is nested too deep.
   */
  readonly duplicates: readonly string[];
  /** Arrays or objects are nested deeper than `maxDepth`; they are checked, and stand empty and frozen in `value`. */
  readonly tooDeep: boolean;
}

/** How a JSON text is read. */
export interface ReadJsonOptions {
  /** How many arrays and objects may be nested in each other: 16 when left out, 0 for scalars only. */
  readonly maxDepth?: number | undefined;
}

/**
 * Reads a JSON text by RFC 8259, strictly: no byte order mark, no extension. Syntax is checked to the end at any
 * depth, values are built down to `maxDepth` only. Lone surrogates in strings are kept as they are.
 * @throws {JsonSyntaxError} the text is not JSON.
 */
export function readJson(text: string, { maxDepth = DEFAULT_MAX_DEPTH }: ReadJsonOptions = {}): JsonDocument {
  const reader = new Reader(text, maxDepth, (source) => new JsonNumber(source));
  const value = reader.read();
  return { value, duplicates: reader.duplicates, tooDeep: reader.tooDeep };
}

/**
 * Reads a JSON text as `readJson` does, at any depth, every number that is an integer within int64 as a bigint
 * (`7`, `7.0`, `7e0`), any other as the number that JSON.parse makes of it.
 * @throws {JsonSyntaxError} the text is not JSON, or an object has a member twice (RFC 7493, section 2.3).
 */
export function parse(text: string): unknown {
  const reader = new Reader<bigint | number>(text, Infinity, (source) => toInt64(source) ?? Number(source));
  const value = reader.read();
  const [duplicate] = reader.duplicates;
  if (duplicate !== undefined) {
    throw new JsonSyntaxError(`Member ${abbreviate(duplicate)} is repeated`, reader.duplicateAt);
  }
  return value;
}

const abbreviate = (pointer: string): string =>
  pointer.length > 64 ? `${pointer.slice(0, 64)}...` : pointer;

/** Stand for what is nested too deep. */
const DEEP_ARRAY: never[] = [];
const DEEP_OBJECT: Record<string, never> = {};
Object.freeze(DEEP_ARRAY);
Object.freeze(DEEP_OBJECT);

const closing = (container: object): string => (Array.isArray(container) ? ']' : '}');

/** Reads one text, once. Keeps its own stack, so that no nesting overflows the engine's. */
class Reader<Num> {
  readonly duplicates: string[] = [];
  /** The position of the first of `duplicates`. */
  duplicateAt = 0;
  tooDeep = false;
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #toNumber: (source: string) => Num;
  /** How many arrays and objects are around the current position. */
  #depth = 0;
  /** Those of them that are built, outermost first. */
  readonly #open: Container<Num>[] = [];
  /** By the place in `#open`: the name of an object's current member. */
  readonly #names: string[] = [];
  /** By depth, of those nested too deep: 1 for an object. A byte each, so that a text of brackets costs little. */
  #deep: Uint8Array | undefined;
  #at = 0;

  constructor(text: string, maxDepth: number, toNumber: (source: string) => Num) {
    // The bytes of a file, mostly, where no compiler sees it.
    if (typeof text !== 'string') throw new TypeError(`JSON is read from a string, not ${typeof text}`);
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#toNumber = toNumber;
  }

  read(): JsonValue<Num> {
    for (;;) {
      let value = this.#begin();
      while (value !== undefined) {
        const container = this.#innermost();
        if (container === undefined) {
          if (this.#peek() !== undefined) throw this.#expected('the end of the text');
          return value;
        }
        if (this.#building()) this.#add(container, value);
        value = this.#proceed(container);
      }
    }
  }

  /** Reads a scalar or an empty container; otherwise opens the container up to its first value: `undefined`. */
  #begin(): JsonValue<Num> | undefined {
    switch (this.#peek()) {
      case '"':
        return this.#string();
      case '{':
        return this.#enter(this.#depth < this.#maxDepth ? {} : DEEP_OBJECT);
      case '[':
        return this.#enter(this.#depth < this.#maxDepth ? [] : DEEP_ARRAY);
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      case undefined:
      default:
        return this.#number();
    }
  }

  #enter(container: Container<Num>): Container<Num> | undefined {
    this.#at += 1;
    this.#depth += 1;
    if (this.#building()) this.#open.push(container);
    else {
      this.tooDeep = true;
      this.#deep ??= new Uint8Array(this.#text.length);
      this.#deep[this.#depth - 1] = container === DEEP_OBJECT ? 1 : 0;
    }
    if (this.#peek() === closing(container)) return this.#leave(container);
    if (!Array.isArray(container)) this.#name(container);
    return undefined;
  }

  /** The array or object that the current position is in. */
  #innermost(): Container<Num> | undefined {
    if (this.#building()) return this.#open.at(-1);
    return this.#deep?.[this.#depth - 1] === 1 ? DEEP_OBJECT : DEEP_ARRAY;
  }

  /** After a value in a container: on to the next value, or, if it was the last, the container that it ends. */
  #proceed(container: Container<Num>): Container<Num> | undefined {
    const next = this.#peek();
    if (next === closing(container)) return this.#leave(container);
    if (next !== ',') throw this.#expected(`"," or "${closing(container)}"`);
    this.#at += 1;
    if (!Array.isArray(container)) this.#name(container);
    return undefined;
  }

  #leave(container: Container<Num>): Container<Num> {
    if (this.#building()) this.#open.pop();
    this.#at += 1;
    this.#depth -= 1;
    return container;
  }

  /** Whether what is read at this depth is wanted as a value. */
  #building(): boolean {
    return this.#depth <= this.#maxDepth;
  }

  #name(container: Container<Num>): void {
    if (this.#peek() !== '"') throw this.#expected('a member name in quotes');
    const start = this.#at;
    const name = this.#string();
    if (this.#building()) {
      this.#names[this.#depth - 1] = name;
      if (Object.hasOwn(container, name)) this.#noteDuplicate(start);
    }
    if (this.#peek() !== ':') throw this.#expected('":"');
    this.#at += 1;
  }

  #noteDuplicate(start: number): void {
    if (this.duplicates.length === 0) this.duplicateAt = start;
    if (this.duplicates.length === MAX_DUPLICATES) return;
    const path = this.#open.map((container, depth) =>
      Array.isArray(container) ? String(container.length) : (this.#names[depth] ?? ''),
    );
    this.duplicates.push(
      path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    );
  }

  #add(container: Container<Num>, value: JsonValue<Num>): void {
    if (Array.isArray(container)) {
      container.push(value);
      return;
    }
    const name = this.#names[this.#depth - 1] ?? '';
    // Assigning to an inherited name could call a setter, as that of __proto__.
    if (name in container) {
      Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
    } else container[name] = value;
  }

  #word<Word extends boolean | null>(word: string, value: Word): Word {
    if (!this.#text.startsWith(word, this.#at)) throw this.#expected('a value');
    this.#at += word.length;
    return value;
  }

  #number(): Num | null {
    const start = this.#at;
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.#text)) throw this.#expected('a value');
    this.#at = NUMBER.lastIndex;
    return this.#building() ? this.#toNumber(this.#text.slice(start, this.#at)) : null;
  }

  /** Moves past the string that begins here, and returns it, or an empty one where no values are built. */
  #string(): string {
    const text = this.#text;
    const start = this.#at + 1;
    let at = start;
    let escaped = false;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(text)) throw this.#expected('a valid escape', at);
        escaped = true;
        at = ESCAPE.lastIndex;
      } else if (code >= SPACE) at += 1;
      else throw this.#expected(Number.isNaN(code) ? 'a closing quote' : 'an escape for this character', at);
    }
    this.#at = at + 1;
    if (!this.#building()) return '';
    if (!escaped && at - start <= LONGEST_COPIED_SLICE) return text.slice(start, at);
    const copy: string = JSON.parse(text.slice(start - 1, at + 1));
    return copy;
  }

  /** Moves past white space, and returns the character there, `undefined` at the end. */
  #peek(): string | undefined {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.#text[this.#at];
      this.#at += 1;
    }
  }

  #expected(what: string, position = this.#at): JsonSyntaxError {
    const end = position >= this.#text.length ? ', but the text ends,' : '';
    return new JsonSyntaxError(`Expected ${what}${end}`, position);
  }
}

/**
 * Writes a value as JSON.stringify does (`toJSON`, what is left out, order, escapes, `space`), and in addition
 * bigints as integers and a `JsonNumber` as its text. What JSON or int64 cannot hold is refused, not altered.
 * @param space how many spaces to indent each level by, or the text to indent it with; one line when left out.
 * @throws {RangeError} a bigint is outside int64, a number is NaN or infinite, or the nesting overflows the stack.
 * @throws {TypeError} the value is circular, or none that JSON knows (`undefined`, a function, a symbol).
 */
export function stringify(value: unknown, space?: string | number): string {
  const text: string | undefined = JSON.stringify(value, replaceNumber, space);
  if (text === undefined) throw new TypeError(`JSON has no value of type ${typeof value}`);
  return text;
}

/** In every Node.js that this package runs on and in browsers since 2025, but not in the compiler's library. */
const rawJson: (text: string) => unknown = Reflect.get(JSON, 'rawJSON');

function replaceNumber(this: unknown, name: string, value: unknown): unknown {
  // Looked up again because programs give BigInt.prototype a toJSON, which has made text of the value by now.
  const original: unknown = Object(this)[name];
  const number = typeof original === 'bigint' ? original : value;
  if (typeof number === 'bigint') {
    if (!isInt64(number)) throw new RangeError('An integer is outside int64');
    return rawJson(String(number));
  }
  if (typeof number === 'number' && !Number.isFinite(number)) throw new RangeError(`JSON has no ${number}`);
  return number instanceof JsonNumber ? rawJson(number.text) : number;
}
