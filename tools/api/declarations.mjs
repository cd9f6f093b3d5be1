// The declarations as the reports and the reference read them. A class's member without a docstring means what the
// interface or class says that it comes from: editors show that text, api-extractor does not look for it. And its
// parser knows TSDoc's way of writing tags only, while editors read JSDoc's `@throws {Error} when`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const asTsDoc = (comment) =>
  comment
    .replaceAll(/@throws \{(\w+)\}/g, '@throws {@link $1}:')
    .replaceAll(/@param (\w+) (?!- )/g, '@param $1 - ');

/** Writes the declarations under `root` that the entries lead to below `folder`, and tells where each one is; and what types
 * and constants look like with what is said inside of them, which api-extractor leaves out. */
export function completeDeclarations(ts, { root, folder, entries, compilerOptions }) {
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, root);
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const ownFiles = program
    .getSourceFiles()
    .filter(
      ({ fileName }) => !relative(root, fileName).startsWith('..') && !fileName.includes('/node_modules/'),
    );

  function inheritedDoc(declaration) {
    for (const clause of declaration.parent.heritageClauses ?? []) {
      for (const base of clause.types) {
        const member = checker.getTypeAtLocation(base).getProperty(declaration.name.text);
        for (const found of member?.declarations ?? []) {
          const doc = docOf(found);
          if (doc !== undefined && ownFiles.includes(found.getSourceFile())) return doc;
        }
      }
    }
    return undefined;
  }

  const docOf = (declaration) =>
    declaration.jsDoc?.at(-1).getText() ??
    (declaration.parent.heritageClauses === undefined ? undefined : inheritedDoc(declaration));

  const commented = new Map();
  for (const file of ownFiles) {
    const copy = join(folder, relative(root, file.fileName));
    const additions = [];
    ts.forEachChild(file, (node) => {
      const name = node.name?.text ?? node.declarationList?.declarations[0]?.name.text;
      if (
        (ts.isVariableStatement(node) || ts.isTypeAliasDeclaration(node)) &&
        node.getText().includes('/**')
      ) {
        commented.set(`${relative(root, copy)}#${name}`, node.getText());
      }
      if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node)) return;
      for (const member of node.members) {
        if (member.jsDoc !== undefined || !ts.isIdentifier(member.name ?? node)) continue;
        const doc = inheritedDoc(member);
        if (doc !== undefined) additions.push([member.getStart(), doc]);
      }
    });
    let text = file.text;
    for (const [position, doc] of additions.toReversed()) {
      text = `${text.slice(0, position)}${doc}\n    ${text.slice(position)}`;
    }
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(
      copy,
      text.replaceAll(/\/\*\*[^]*?\*\//g, asTsDoc).replace(/\n\/\/# sourceMappingURL=.*/, ''),
    );
  }
  return { declarations: entries.map((entry) => join(folder, relative(root, entry))), commented };
}
