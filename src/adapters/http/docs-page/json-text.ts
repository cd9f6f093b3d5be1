/** A number as it stands in the text: a JavaScript number would round an int64. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue = string | boolean | null | JsonNumber | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [member: string]: JsonValue };

/** A piece of JSON text, as it was written. */
export interface Token {
  readonly kind: 'punctuation' | 'name' | 'string' | 'number' | 'literal' | 'space';
  readonly text: string;
}

const TOKEN =
  /[ \t\n\r]*(?:(?<punctuation>[{}[\],:])|(?<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?<number>-?\d[\d.eE+-]*)|(?<literal>true|false|null))/suy;
const END = /[ \t\n\r]*$/y;

/** The tokens of a text that consists of those of JSON, else `undefined`. Space between them is left out. */
export function readTokens(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  let end = 0;
  for (;;) {
    END.lastIndex = end;
    if (END.test(text)) return tokens.length === 0 ? undefined : tokens;
    TOKEN.lastIndex = end;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) return undefined;
    end = TOKEN.lastIndex;
    const [kind, found = ''] = Object.entries(groups).find(([, group]) => group !== undefined) ?? [];
    const before = tokens.at(-1);
    if (found === ':' && before?.kind === 'string') tokens[tokens.length - 1] = { ...before, kind: 'name' };
    tokens.push({ kind: kind as Token['kind'], text: found });
  }
}

/**
 * The value of a JSON text, its numbers exact.
 * @throws {SyntaxError} it is not JSON
 */
export function readJson(text: string): JsonValue {
  JSON.parse(text); // judges the syntax, so that the rest need not
  const tokens = (readTokens(text) ?? []).filter((token) => !/^[,:]$/.test(token.text)).values();
  const next = (): Token => tokens.next().value ?? { kind: 'punctuation', text: '' };
  const valueOf = ({ kind, text }: Token): JsonValue => {
    if (kind === 'number') return new JsonNumber(text);
    if (kind !== 'punctuation') return JSON.parse(text) as string | boolean | null;
    if (text === '[') {
      const items: JsonValue[] = [];
      for (let item = next(); item.text !== ']'; item = next()) items.push(valueOf(item));
      return items;
    }
    const members: Array<[string, JsonValue]> = [];
    for (let name = next(); name.text !== '}'; name = next()) {
      members.push([JSON.parse(name.text) as string, valueOf(next())]);
    }
    return Object.fromEntries(members);
  };
  return valueOf(next());
}

/** A value as JSON text on one line, its numbers exact. */
export function writeJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`,
  );
  return `{${members.join(',')}}`;
}

/** The same JSON, laid out in lines: nothing but the space between the tokens is new. */
export function layOut(tokens: readonly Token[]): readonly Token[] {
  const laidOut: Token[] = [];
  let depth = 0;
  const newLine = (): void => void laidOut.push({ kind: 'space', text: `\n${'  '.repeat(depth)}` });
  for (const [index, token] of tokens.entries()) {
    const { kind, text } = token;
    const mark = kind === 'punctuation' ? text : '';
    if (mark === '}' || mark === ']') {
      depth -= 1;
      if (!opens(tokens[index - 1])) newLine();
    }
    laidOut.push(token);
    if (mark === ':') laidOut.push({ kind: 'space', text: ' ' });
    if (mark === ',') newLine();
    if (opens(token)) {
      depth += 1;
      if (!/^[}\]]$/.test(tokens[index + 1]?.text ?? '')) newLine();
    }
  }
  return laidOut;
}

const opens = (token: Token | undefined): boolean => token?.text === '{' || token?.text === '[';

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);

/** The value if it is an object, else one without members; and the like for lists and texts. */
export const asObject = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

export const asList = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? value : [];

export const asText = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** A value as it stands in a URL or a sentence: a text without quotes. */
export const plainText = (value: JsonValue): string => (typeof value === 'string' ? value : writeJson(value));
