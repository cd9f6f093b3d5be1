/*
 * JSON as RFC 8259 defines it, with exact 64-bit integers. JSON.parse rounds integers beyond 2^53 and silently keeps
 * only the last of two equal members; JSON.stringify throws on a bigint.
 */

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** The number of repeated members that are listed. A bound, so that listing them stays cheap. */
const MAX_DUPLICATES = 16;

/** A number of RFC 8259, section 6: sign, whole part, fraction, exponent. */
const NUMBER = /(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** The longest slice that V8 copies, in UTF-16 code units. A longer one keeps the whole source text in memory. */
const LONGEST_COPIED_SLICE = 12;

/** The text is not JSON, or repeats a member where that is refused. The message says where. */
export class JsonSyntaxError extends SyntaxError {
  // A literal: minifiers rename classes.
  override readonly name = 'JsonSyntaxError';
}

/** A number as it was written. The reader of the document decides what to make of it. */
export class JsonNumber {
  /** The source text: `7.0`, `7e0` and `7` are different. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /**
   * The exact integer, if the number is one from -2^63 to 2^63 - 1: `7.0`, `70e-1` and `7` are 7, `-0` is 0.
   * `undefined` for every other number. Takes time proportional to the text, whatever the exponent.
   */
  toInt64(): bigint | undefined {
    NUMBER.lastIndex = 0;
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(this.text) ?? [];
    const digits = whole + fraction;
    let first = 0;
    while (digits[first] === '0') first += 1;
    if (first === digits.length) return 0n;
    let end = digits.length;
    while (digits[end - 1] === '0') end -= 1;
    // The number of zeros after the last significant digit. Number() may round a huge exponent, even to Infinity: no
    // text has enough digits to bring such a number back into range. 10n ** 999999999n would block for seconds.
    const zeros = Number(exponent) - fraction.length + (digits.length - end);
    if (zeros < 0 || end - first + zeros > 19) return undefined;
    const value = BigInt(sign + digits.slice(first, end) + '0'.repeat(zeros));
    return isInt64(value) ? value : undefined;
  }
}

/** A value of a JSON text. Objects are plain, and every member is an own property. */
export type JsonValue<Num = JsonNumber> =
  null | boolean | string | Num | JsonValue<Num>[] | { [name: string]: JsonValue<Num> };

export function isJsonObject(value: JsonValue): value is { [name: string]: JsonValue } {
  const isScalar = typeof value !== 'object' || value === null || value instanceof JsonNumber;
  return !isScalar && !Array.isArray(value);
}

type Container<Num> = JsonValue<Num>[] | { [name: string]: JsonValue<Num> };

/** A JSON text, and what a strict reader may want to refuse in it. */
export interface JsonDocument {
  /** Of equal members in one object it holds the last, as JSON.parse does. */
  readonly value: JsonValue;
  /**
   * JSON Pointers (RFC 6901) of members whose unescaped name occurred before in the same object: the first 16, in the
   * order of the text. Members below `maxDepth` are not compared.
   */
  readonly duplicates: readonly string[];
  /** Whether values are nested deeper than `maxDepth`. They are checked, but stand empty in `value`. */
  readonly tooDeep: boolean;
}

/**
 * Reads a JSON text strictly: no byte order mark, no extensions. Checks the syntax to the end at any depth, and builds
 * values down to `maxDepth` (default 16; 0 for scalars only). Keeps lone surrogates in strings.
 * @throws {JsonSyntaxError} the text is not JSON.
 */
export function readJson(text: string, maxDepth = 16): JsonDocument {
  const reader = new Reader(text, maxDepth, (source) => new JsonNumber(source));
  const value = reader.read();
  return { value, duplicates: reader.duplicates, tooDeep: reader.tooDeep };
}

/**
 * Reads a JSON text strictly, at any depth: no byte order mark, no extensions. Numbers that are int64 integers (`7`,
 * `7.0`, `7e0`) become bigints, all others what JSON.parse makes of them. Keeps lone surrogates in strings.
 * @throws {SyntaxError} the text is not JSON, or repeats a member (RFC 7493, section 2.3).
 */
export function parseJson(text: string): unknown {
  const reader = new Reader(text, Infinity, numberFrom);
  const value = reader.read();
  const [duplicate] = reader.duplicates;
  if (duplicate === undefined) return value;
  const pointer = duplicate.length > 64 ? `${duplicate.slice(0, 64)}...` : duplicate;
  throw new JsonSyntaxError(`Member ${pointer} is repeated`);
}

const numberFrom = (source: string): bigint | number =>
  new JsonNumber(source).toInt64() ?? Number(source);

const WORDS = Object.entries({ true: true, false: false, null: null });
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const closing = (container: object): string => (Array.isArray(container) ? ']' : '}');

/** Reads one text. Keeps its own stack, so that no nesting overflows the engine's. */
class Reader<Num> {
  readonly duplicates: string[] = [];
  tooDeep = false;
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #toNumber: (source: string) => Num;
  #root: JsonValue<Num> = null;
  /** The containers around the current position, outermost first. Each is in the one before, or is the root. */
  readonly #open: Container<Num>[] = [];
  /** Whether the innermost container was opened right before the current position, so that no comma follows. */
  #isOpened = false;
  /** The name of the current member of each open object, by depth. */
  readonly #names: string[] = [];
  #at = 0;

  constructor(text: string, maxDepth: number, toNumber: (source: string) => Num) {
    if (typeof text !== 'string')
      throw new TypeError(`JSON is read from a string, not ${typeof text}`);
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#toNumber = toNumber;
  }

  read(): JsonValue<Num> {
    this.#beginValue();
    for (;;) {
      const container = this.#open.at(-1);
      if (container === undefined) break;
      this.#continue(container);
    }
    if (this.#peek() !== undefined) throw this.#expected('the end of the text');
    return this.#root;
  }

  /** Reads a scalar, or opens a container. */
  #beginValue(): void {
    const next = this.#peek();
    if (next !== '{' && next !== '[') {
      this.#add(this.#scalar(next));
      return;
    }
    const container = next === '{' ? {} : [];
    this.#add(container);
    this.#at += 1;
    this.#open.push(container);
    this.#isOpened = true;
    if (!this.#building()) this.tooDeep = true;
  }

  /** Ends the innermost container here, or begins its next value. */
  #continue(container: Container<Num>): void {
    const next = this.#peek();
    const isFirst = this.#isOpened;
    this.#isOpened = false;
    if (next === closing(container)) {
      this.#at += 1;
      this.#open.pop();
      return;
    }
    if (!isFirst) {
      if (next !== ',') throw this.#expected(`"," or "${closing(container)}"`);
      this.#at += 1;
    }
    if (!Array.isArray(container)) this.#name(container);
    this.#beginValue();
  }

  #scalar(next: string | undefined): JsonValue<Num> {
    if (next === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    const start = this.#at;
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.#text)) throw this.#expected('a value');
    this.#at = NUMBER.lastIndex;
    return this.#building() ? this.#toNumber(this.#text.slice(start, this.#at)) : null;
  }

  /** Whether values at the current depth are wanted. */
  #building(): boolean {
    return this.#open.length <= this.#maxDepth;
  }

  #name(container: Container<Num>): void {
    if (this.#peek() !== '"') throw this.#expected('a member name in quotes');
    const name = this.#string();
    if (this.#building()) {
      this.#names[this.#open.length - 1] = name;
      if (Object.hasOwn(container, name)) this.#noteDuplicate();
    }
    if (this.#peek() !== ':') throw this.#expected('":"');
    this.#at += 1;
  }

  #noteDuplicate(): void {
    if (this.duplicates.length === MAX_DUPLICATES) return;
    const path = this.#open.map((container, depth) => {
      const token = Array.isArray(container)
        ? String(container.length - 1)
        : (this.#names[depth] ?? '');
      return `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    });
    this.duplicates.push(path.join(''));
  }

  /** Puts a value into the innermost container. Without one, it is the whole text's. */
  #add(value: JsonValue<Num>): void {
    const container = this.#open.at(-1);
    if (container === undefined) {
      this.#root = value;
      return;
    }
    if (!this.#building()) return;
    if (Array.isArray(container)) {
      container.push(value);
      return;
    }
    const name = this.#names[this.#open.length - 1] ?? '';
    // Assigning to an inherited name such as __proto__ could call a setter.
    if (name in container) {
      Object.defineProperty(container, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else container[name] = value;
  }

  /** Moves past the string that begins here and returns it, or an empty one where values are not wanted. */
  #string(): string {
    const text = this.#text;
    const start = this.#at + 1;
    let at = start;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(text)) throw this.#expected('a valid escape', at);
        escaped = true;
        at = ESCAPE.lastIndex;
        continue;
      }
      if (Number.isNaN(code)) throw this.#expected('a closing quote', at);
      if (code < 0x20) throw this.#expected('an escape for this character', at);
      at += 1;
    }
    this.#at = at + 1;
    if (!this.#building()) return '';
    const isCopied = at - start <= LONGEST_COPIED_SLICE;
    if (!escaped && isCopied) return text.slice(start, at);
    // Resolves the escapes, and makes a copy where a slice would make none.
    return String(JSON.parse(text.slice(start - 1, at + 1)));
  }

  /** Moves past white space and returns the character there; `undefined` at the end. */
  #peek(): string | undefined {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)
        return this.#text[this.#at];
      this.#at += 1;
    }
  }

  #expected(what: string, position = this.#at): JsonSyntaxError {
    const found = this.#text.codePointAt(position);
    let but = '';
    if (found === undefined) but = ', but the text ends,';
    // Editors do not show them, or they look like the right ones.
    else if (found > 0x7e) but = `, not ${characterName(found)},`;
    return new JsonSyntaxError(`Expected ${what}${but} at position ${position}`);
  }
}

function characterName(code: number): string {
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return code === 0xfeff ? `${name}, a byte order mark` : name;
}

/**
 * Writes a value like JSON.stringify, and in addition bigints as integers. Refuses what JSON or int64 cannot hold.
 * @param space The number of spaces, or the text, to indent each level by. Default: one line.
 * @throws {RangeError} a bigint is outside int64, a number is NaN or infinite, or the nesting overflows the stack.
 * @throws {TypeError} the value is circular, or not a JSON value (`undefined`, a function, a symbol).
 */
export function stringifyJson(value: unknown, space?: string | number): string {
  const text: string | undefined = JSON.stringify(value, replaceNumber, space);
  if (text === undefined) throw new TypeError(`JSON has no value of type ${typeof value}`);
  return text;
}

/** What the compiler's library does not have yet. */
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON?: (text: string) => unknown };

/** A value for which JSON.stringify writes this text. */
function writtenAs(text: string): unknown {
  if (rawJSON) return rawJSON(text);
  throw new Error(
    'This runtime lacks JSON.rawJSON: use a supported Node.js, or a browser since 2025',
  );
}

/** @this the object or array that holds the value. */
function replaceNumber(
  this: Readonly<Record<string, unknown>>,
  name: string,
  value: unknown,
): unknown {
  // The original counts: where a program gave BigInt.prototype a toJSON, `value` is its text.
  const original = unwrapped(this[name]);
  const written = typeof original === 'bigint' ? original : unwrapped(value);
  if (typeof written === 'bigint') {
    if (!isInt64(written)) throw new RangeError('An integer is outside int64');
    return writtenAs(String(written));
  }
  if (typeof written === 'number' && !Number.isFinite(written))
    throw new RangeError(`JSON has no ${written}`);
  return written instanceof JsonNumber ? writtenAs(written.text) : written;
}

/** The number or bigint in an object around it. JSON.stringify would write NaN in one as null. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'object') return value;
  const kind = Object.prototype.toString.call(value);
  if (kind === '[object Number]') return Number(value);
  return kind === '[object BigInt]' ? value?.valueOf() : value;
}
