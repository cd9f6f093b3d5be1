/** A piece of TypeScript source that is neither white space nor a comment. */
export interface Token {
  /** A regular expression or a template stands as one token, what is substituted in a template as its own. */
  readonly kind: 'word' | 'string' | 'template' | 'pattern' | 'number' | 'sign';
  /** As in the source; of a string what is between its quotes. */
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
}

const SPACE = /\s+|\/\/.*|\/\*[^]*?\*\//y;
const WORD = /#?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y;
const STRING = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
/** A template, or the rest of one behind a substitution, up to its end or to the next substitution. */
const TEMPLATE = /[`}](?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y;

/** Words behind which a slash begins a regular expression; behind any other word it divides. */
const BEFORE_PATTERN = /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|yield|await)$/;

/**
 * Splits TypeScript source into tokens: as much of the grammar as it takes not to be fooled by comments,
 * strings, templates and regular expressions. (The compiler has no programming interface to ask.)
 * @throws {SyntaxError} naming the line that it cannot read: nothing is passed over in silence.
 */
export function readTokens(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each brace that is open: whether it is that of a substitution in a template. */
  const braces: boolean[] = [];
  let at = 0;
  let line = 1;

  /** What `form` finds here, if anything; moves past it. */
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    const found = form.exec(source)?.[0];
    if (found !== undefined) {
      at += found.length;
      line += found.split('\n').length - 1;
    }
    return found;
  };
  const fail = (): never => {
    throw new SyntaxError(`line ${line} cannot be read from ${JSON.stringify(source.slice(at, at + 20))} on`);
  };

  for (;;) {
    while (take(SPACE) !== undefined);
    const start = line;
    const push = (kind: Token['kind'], text: string): void => void tokens.push({ kind, text, line: start });
    const next = source[at];
    if (next === undefined) break;
    if (next === "'" || next === '"') {
      push('string', (take(STRING) ?? fail()).slice(1, -1));
    } else if (next === '`' || (next === '}' && braces.at(-1) === true)) {
      if (next === '}') braces.pop();
      const text = take(TEMPLATE) ?? fail();
      if (text.endsWith('${')) braces.push(true);
      push('template', text);
    } else if (next === '/' && beginsPattern(tokens.at(-1))) {
      push('pattern', take(PATTERN) ?? fail());
    } else {
      const word = take(WORD);
      const number = word === undefined ? take(NUMBER) : undefined;
      if (word !== undefined) push('word', word);
      else if (number !== undefined) push('number', number);
      else {
        if (next === '{') braces.push(false);
        if (next === '}' && braces.pop() === undefined) fail();
        at += 1;
        push('sign', next);
      }
    }
  }
  if (braces.length > 0) fail();
  return tokens;
}

/** Behind a value a slash divides, anywhere else it begins a regular expression. */
function beginsPattern(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'sign') return !/[)\]}]/.test(before.text);
  if (before.kind === 'template') return before.text.endsWith('${');
  return before.kind === 'word' && BEFORE_PATTERN.test(before.text);
}
