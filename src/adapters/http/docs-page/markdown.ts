/** A block of a text in Markdown, as much of it as descriptions of interfaces use. */
export type Block =
  | { readonly kind: 'paragraph'; readonly text: readonly Inline[] }
  | { readonly kind: 'list'; readonly items: ReadonlyArray<readonly Inline[]> };

export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly target: string }
  /** A day, written as `2030-12-05`. */
  | { readonly kind: 'day'; readonly date: Date };

export interface Section {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

/** Splits a text at its headings; what stands before the first one is the lead. */
export function readSections(markdown: string): {
  readonly lead: readonly Block[];
  readonly sections: readonly Section[];
} {
  const [lead = '', ...parts] = markdown.split(/^#{1,6} +/m);
  const sections = parts.map((part) => {
    const end = part.indexOf('\n');
    const heading = end === -1 ? part : part.slice(0, end);
    return { heading: heading.trim(), blocks: readBlocks(end === -1 ? '' : part.slice(end)) };
  });
  return { lead: readBlocks(lead), sections };
}

export const readBlocks = (markdown: string): readonly Block[] =>
  markdown
    .split(/\n[ \t]*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map((block) => {
      if (!/^[-*] /.test(block)) return { kind: 'paragraph', text: readInline(block) };
      const items = block.split(/^[-*] +/m).slice(1);
      return { kind: 'list', items: items.map((item) => readInline(item.trim())) };
    });

const INLINE =
  /`(?<code>[^`]+)`|\*\*(?<strong>[^*]+)\*\*|\[(?<label>[^\]]+)\]\((?<target>(?:https?:|[#./])[^)\s]*)\)|\b(?<day>\d{4}-\d\d-\d\d)\b/g;

export function readInline(text: string): readonly Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const { code, strong, label, target, day } = match.groups ?? {};
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
    else if (label !== undefined && target !== undefined) parts.push({ kind: 'link', text: label, target });
    else if (day !== undefined && !Number.isNaN(Date.parse(day)))
      parts.push({ kind: 'day', date: new Date(day) });
    else parts.push({ kind: 'text', text: match[0] });
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}
