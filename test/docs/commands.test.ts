import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runLine } from '../bootstrap/test-io.js';
import { CODE_BLOCKS, DOCUMENTS, ROOT, capturesIn, proseOf, read } from './code-blocks.js';

const MANIFEST = JSON.parse(read('package.json')) as {
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};

/** What a shell is given, in blocks and in the text. */
const COMMANDS: readonly string[] = [
  ...CODE_BLOCKS.filter(({ language }) =>
    ['sh', 'console', 'dockerfile'].includes(language),
  ).flatMap(({ code }) => code.split('\n')),
  ...DOCUMENTS.flatMap((document) => capturesIn(proseOf(document), /`([^`\n]+)`/g)),
];

const named = (pattern: RegExp): string[] => [
  ...new Set(COMMANDS.flatMap((command) => capturesIn(command, pattern))),
];

describe('The commands in the documents', () => {
  it('run scripts, programs and files that there are', () => {
    const scripts = [...named(/\bnpm run (?:-s )?([\w:-]+)/g), ...named(/\bnpm (start|test)\b/g)];
    expect(scripts).to.include.members(['cli', 'check', 'start', 'test']);
    expect(scripts.filter((name) => MANIFEST.scripts[name] === undefined)).to.deep.equal([]);
    const programs = named(/\bnpx ([a-z][\w-]*)/g).filter(
      (name) => MANIFEST.bin[name] === undefined,
    );
    const files = named(/\bnode ((?:tools|examples)\/[\w./-]+)/g);
    for (const file of [...programs.map((name) => `node_modules/.bin/${name}`), ...files])
      expect(existsSync(join(ROOT, file)), file).to.equal(true);
  });

  it('set what can be set', () => {
    const tables = ['docs/operations/settings.md', 'CONTRIBUTING.md'].map(read).join('\n');
    // OpenTelemetry and Node.js have settings of their own.
    const settings = named(/(?:^|\s)([A-Z][A-Z_]+)=/g).filter(
      (name) => !/^(?:KEY$|OTEL_|NODE_)/.test(name),
    );
    expect(settings).to.include.members(['STORE_URL', 'ADAPTERS', 'HOST']);
    const unknown = settings.filter(
      (name) => !new RegExp(`^\\|.*\`${name}(?:=1)?\`.*\\|`, 'm').test(tables),
    );
    expect(unknown).to.deep.equal([]);
  });

  it('give the program commands and options that it has', async () => {
    const uses = new Map<string, Set<string>>();
    for (const command of COMMANDS) {
      const [, words = '', rest = ''] =
        /(?:npm run -s cli --|(?<![\w/.-])animal-store) ((?:keys )?[a-z][a-z-]*)(.*)/.exec(
          command,
        ) ?? [];
      if (words === '') continue;
      const options = uses.get(words) ?? new Set();
      for (const [option] of (rest.split('#')[0] ?? '').matchAll(/--[a-z-]+/g)) options.add(option);
      uses.set(words, options);
    }
    expect([...uses.keys()]).to.include.members(['keys issue', 'copy', 'serve']);
    for (const [words, options] of uses) {
      const { code, out } = await runLine(`${words} --help`);
      expect(code, words).to.equal(0);
      for (const option of options) expect(out, words).to.include(option);
    }
  });
});
