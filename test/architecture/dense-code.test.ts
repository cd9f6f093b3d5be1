import { expect } from 'chai';
import { parseSync } from 'oxc-parser';
import { isNode, nodesIn, readSourceTree, type Node } from './source-tree.js';

const ROOT = new URL('../../../', import.meta.url);

/** What the linter has no rule for: statements that do several things so that they fit on a line. */
const RULES: Readonly<Record<string, (node: Node) => boolean>> = {
  'an array literal taken apart at once': ({ type, id, init }) =>
    type === 'VariableDeclarator' && isA(id, 'ArrayPattern') && isA(init, 'ArrayExpression'),
  'an assignment as an argument': ({ arguments: values }) =>
    Array.isArray(values) && values.some((value) => isA(value, 'AssignmentExpression')),
  'a chain of two ?? behind a call': ({ type, operator, left }) =>
    type === 'LogicalExpression' &&
    operator === '??' &&
    isA(left, 'LogicalExpression') &&
    left['operator'] === '??' &&
    [...nodesIn(left['left'])].some((node) => node.type === 'CallExpression'),
};

const isA = (value: unknown, type: string): value is Node => isNode(value) && value.type === type;

/** The places in a source that are too dense. */
function denseIn(path: string, source: string): string[] {
  const nodes = [...nodesIn(parseSync(path, source, { preserveParens: false }).program)];
  return Object.entries(RULES).flatMap(([rule, holds]) =>
    nodes
      .filter(holds)
      .map(({ start }) => `${path}:${source.slice(0, start).split('\n').length}: ${rule}`),
  );
}

describe('The code', () => {
  it('does one thing in a statement', async () => {
    const tree = await readSourceTree(ROOT, ['src', 'test']);
    expect([...tree].flatMap(([path, source]) => denseIn(path, source))).to.deep.equal([]);
  });

  for (const planted of [
    'const [one, two] = [1, f()];',
    'push((last = next));',
    'const found = map.get(one) ?? two ?? three;',
  ])
    it(`is caught at ${planted}`, () => {
      expect(denseIn('planted.ts', planted)).to.have.length(1);
    });
});
