import type { Token } from './json-text.js';
import { readBlocks, readInline, type Block, type Inline } from './markdown.js';

export type Content = Node | string | undefined | readonly Content[];
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** An element with its attributes and content. Texts stay texts: nothing is ever read as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(attribute, value === true ? '' : value);
  }
  append(made, content);
  return made;
}

function append(parent: Element, content: Content): void {
  if (content === undefined) return;
  if (typeof content === 'string' || content instanceof Node) parent.append(content);
  else for (const part of content) append(parent, part);
}

/** A text in Markdown. */
export const prose = (markdown: string): readonly HTMLElement[] => blocks(readBlocks(markdown));

export const blocks = (read: readonly Block[]): readonly HTMLElement[] =>
  read.map((block) =>
    block.kind === 'paragraph'
      ? element('p', {}, inline(block.text))
      : element(
          'ul',
          {},
          block.items.map((item) => element('li', {}, inline(item))),
        ),
  );

/** A text in Markdown on a line. */
export const line = (markdown: string): readonly Content[] => inline(readInline(markdown));

const inline = (parts: readonly Inline[]): readonly Content[] =>
  parts.map((part) => {
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'code':
        return element('code', {}, part.text);
      case 'strong':
        return element('strong', {}, part.text);
      case 'link':
        return element('a', { href: part.target }, part.text);
      case 'day':
        return day(part.date);
    }
  });

/** A day as people write it, in the service's own time zone, UTC. */
export function day(date: Date): HTMLTimeElement {
  const written = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(date);
  return element('time', { datetime: date.toISOString().slice(0, 10) }, written);
}

/** Tokens of JSON, each kind to be told by its colour. */
export const colored = (tokens: readonly Token[]): readonly Content[] =>
  tokens.map(({ kind, text }) =>
    kind === 'space' || kind === 'punctuation' ? text : element('span', { class: `json-${kind}` }, text),
  );
