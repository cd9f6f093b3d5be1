// The reference: a page of Markdown for each entry, from the models that api-extractor makes of the docstrings.
// api-documenter was tried first: it writes more than 700 pages, takes no two entries of one package, and links none
// of them to the others.
import { basename } from 'node:path';

const KINDS = { TypeAlias: 'type', Variable: 'const' };
const MEMBER_SUFFIX = { Method: '()', MethodSignature: '()' };
const NOTE = '<!-- Made by npm run api from the docstrings in the source: change those. -->\n';

const headingOf = ({ kind, name }) => `${KINDS[kind] ?? kind.toLowerCase()} ${name}`;
const memberHeadingOf = (owner, { kind, name }) =>
  kind === 'Constructor' ? `new ${owner.name}()` : `${owner.name}.${name}${MEMBER_SUFFIX[kind] ?? ''}`;

/** What a heading is called in links. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** `<` begins a tag in Markdown, other than in code. */
const escaped = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;')))
    .join('');

/** The docstring's text, and its tags in order. */
function readDoc(comment) {
  const text = comment.replaceAll(/^\/\*\*|\*\/\s*$/g, '').replaceAll(/^ *\* ?/gm, '');
  const [prose = '', ...blocks] = text.split(/^@(?=[a-z])/m);
  const tags = blocks.map((block) => {
    const [, tag, body] = /^(\w+)\s*([^]*)$/.exec(block);
    return { tag, body: body.trim().replaceAll(/\s*\n\s*/g, ' ') };
  });
  return { prose: prose.trim(), tags };
}

const firstSentence = (prose) => /^.*?\.(?=\s|$)/.exec(prose.replaceAll('\n', ' '))?.[0] ?? prose;

export function makeReference(models, commented) {
  const entries = models.map(({ entry, model, items }) => ({
    entry,
    name: `animal-store${entry.slice(1)}`,
    page: `${basename(entry === '.' ? 'animal-store' : entry)}.md`,
    doc: readDoc(model.docComment ?? ''),
    items,
  }));

  /** Where a name is explained: on the same page when it is there, else on that of the entry that exports it. */
  function linkTo(name, from) {
    const [itemName, memberName] = name.split('.');
    for (const { page, items } of [from, ...entries]) {
      const item = items.find((candidate) => candidate.name === itemName);
      if (item === undefined) continue;
      const member = memberName && item.members?.find((candidate) => candidate.name === memberName);
      const anchor = anchorOf(member ? memberHeadingOf(item, member) : headingOf(item));
      return `${page === from.page ? '' : page}#${anchor}`;
    }
    return undefined;
  }

  function linked(name, from, text = `\`${name}\``) {
    const link = linkTo(name, from);
    return link === undefined ? text : `[${text}](${link})`;
  }

  /** Names of exported types and of functions in code spans lead to them; one word in small letters may be anything. */
  const withLinks = (text, from) =>
    escaped(text)
      .replaceAll(/`(\w*[A-Z]\w*(?:\.\w+)?)(\(\))?`/g, (_, name) => linked(name, from))
      .replaceAll(/\{@link ([\w.]+)(?:\s*\|\s*([^}]+?))?\s*\}/g, (_, name, title) =>
        linked(name, from, title),
      );

  function signatureOf({ kind, name, fileUrlPath, excerptTokens }) {
    const excerpt = excerptTokens.map((token) => token.text).join('');
    const text = (commented.get(`${fileUrlPath}#${name}`) ?? excerpt)
      .trim()
      .replace(/^export (declare )?/, '');
    // Functions that are constants are told apart by nothing else.
    const isConstant = kind === 'Variable' || (kind === 'Function' && !text.startsWith('function'));
    return isConstant ? `const ${text.replace(/^const /, '')}` : text;
  }

  function writeItem(item, level, title, from) {
    const { prose, tags } = readDoc(item.docComment);
    const types = new Set(
      item.excerptTokens
        .filter(({ kind, text }) => kind === 'Reference' && linkTo(text, from))
        .map(({ text }) => text),
    );
    types.delete(item.name);
    const body = [`${'#'.repeat(level)} ${title}`];
    const signature = signatureOf(item);
    if (signature !== title) body.push(`\`\`\`ts\n${signature}\n\`\`\``);
    // The compiler knows of the constructor only what the class's own text says better.
    if (!prose.startsWith('Constructs a new instance of')) body.push(withLinks(prose, from));
    const list = tags.map(({ tag, body: text }) => {
      if (tag === 'throws') return `- Throws ${withLinks(text, from)}`;
      if (tag === 'returns') return `- Returns ${withLinks(text, from)}`;
      const [, name, meaning] = /^(\S+) - (.*)$/.exec(text) ?? [undefined, tag, text];
      return `- \`${name}\`: ${withLinks(meaning, from)}`;
    });
    if (list.length > 0) body.push(list.join('\n'));
    if (types.size > 0) body.push(`Types: ${[...types].map((name) => linked(name, from)).join(', ')}.`);
    return body.filter((part) => part !== '');
  }

  function writePage(from) {
    const body = [NOTE.trimEnd(), `# ${from.name}`, withLinks(from.doc.prose, from)];
    body.push(`[All entries](README.md) · [its types at a glance](../api/${reportOf(from.entry)})`);
    body.push(
      from.items
        .map(
          (item) =>
            `- ${linked(item.name, from)}: ${withLinks(firstSentence(readDoc(item.docComment).prose), from)}`,
        )
        .join('\n'),
    );
    for (const item of from.items) {
      body.push(...writeItem(item, 2, headingOf(item), from));
      for (const member of item.members ?? []) {
        body.push(...writeItem(member, 3, memberHeadingOf(item, member), from));
      }
    }
    return `${body.join('\n\n')}\n`;
  }

  const index = [
    NOTE.trimEnd(),
    '# API reference',
    'What each entry of the package exports: meaning, units, ranges and errors, as the docstrings say it.',
    entries
      .map(
        (from) =>
          `- [\`${from.name}\`](${from.page}): ${withLinks(from.doc.prose.replaceAll('\n', ' '), from)}`,
      )
      .join('\n'),
  ];
  return new Map([
    ['README.md', `${index.join('\n\n')}\n`],
    ...entries.map((from) => [from.page, writePage(from)]),
  ]);
}

export const reportOf = (entry) => `animal-store${entry.slice(1).replace('/', '-')}.api.md`;
