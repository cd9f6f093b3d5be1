import { readTokens, type Token } from './tokens.js';

/** That a module needs another. */
export interface Import {
  /** As written; `undefined` where it is computed when the program runs. */
  readonly specifier: string | undefined;
  /** Where it stands, counted from 1. */
  readonly line: number;
}

/**
 * What the source of a module imports, in its order: `import` and `export ... from`, of values and of types, and
 * `import()`, of modules and in types.
 * @throws {SyntaxError} the source cannot be read.
 */
export function readImports(source: string): Import[] {
  const tokens = readTokens(source);
  return tokens.flatMap((token, index): Import[] => {
    if (token.kind !== 'word' || isMember(tokens, index)) return [];
    if (token.text === 'import') return importAt(tokens, index);
    if (token.text === 'export') return exportAt(tokens, index);
    return [];
  });
}

/** Whether the word stands for a member (`x.import`) or names one (`{ import: 1 }`). */
export const isMember = (tokens: readonly Token[], index: number): boolean =>
  (tokens[index - 1]?.text === '.' && tokens[index - 2]?.text !== '.') || tokens[index + 1]?.text === ':';

function importAt(tokens: readonly Token[], index: number): Import[] {
  const next = tokens[index + 1];
  const { line = 0 } = next ?? {};
  if (next?.text === '.' && next.kind === 'sign') return []; // import.meta
  if (next?.text === '(' && next.kind === 'sign') {
    const [argument, after] = tokens.slice(index + 2, index + 4);
    const isLiteral = argument?.kind === 'string' && /^[,)]$/.test(after?.text ?? '');
    return [{ specifier: isLiteral ? argument.text : undefined, line }];
  }
  return [next?.kind === 'string' ? { specifier: next.text, line } : fromClause(tokens, index)];
}

/** Only `export *` and `export {}` may have a `from`, and `export type` with these. */
function exportAt(tokens: readonly Token[], index: number): Import[] {
  const first = tokens[index + 1]?.text === 'type' ? index + 2 : index + 1;
  if (tokens[first]?.text === '*') return [fromClause(tokens, index)];
  if (tokens[first]?.text !== '{') return [];
  const end = tokens.findIndex(({ kind, text }, place) => place > first && kind === 'sign' && text === '}');
  return tokens[end + 1]?.text === 'from' ? [fromClause(tokens, index)] : [];
}

/** The `from '...'` that ends the statement. A binding may be called `from` too, but no string follows that one. */
function fromClause(tokens: readonly Token[], index: number): Import {
  const from = tokens.findIndex(
    ({ kind, text }, place) =>
      place > index && kind === 'word' && text === 'from' && tokens[place + 1]?.kind === 'string',
  );
  const specifier = tokens[from + 1];
  if (from === -1 || specifier === undefined) {
    throw new SyntaxError(`line ${tokens[index]?.line ?? 0} imports from nowhere`);
  }
  return { specifier: specifier.text, line: specifier.line };
}
