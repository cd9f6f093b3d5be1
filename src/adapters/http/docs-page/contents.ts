import { element, type Content } from './element.js';
import type { Group } from './interface-document.js';

/** Where on the page the section with this heading is. */
export const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Fills in the contents of the page, which is there already, and marks what is being read. */
export function showContents(
  place: HTMLElement,
  groups: readonly Group[],
  headings: readonly string[],
): void {
  const operations = groups.map(({ name, operations: own }) =>
    entry(
      name,
      capitalised(name),
      element(
        'ul',
        {},
        own.map(({ id, summary, deprecation }) =>
          entry(id, deprecation ? [summary, element('span', { class: 'hint' }, ' (deprecated)')] : summary),
        ),
      ),
    ),
  );
  const guide = headings.map((heading) => entry(anchorOf(heading), heading));
  place.replaceChildren(
    element('ul', {}, entry('access', 'Access'), operations, guide, entry('schemas', 'Schemas')),
  );
  place.hidden = false;
  markCurrent(place);
}

const entry = (target: string, label: Content, ...below: readonly Content[]): HTMLElement =>
  element('li', {}, element('a', { href: `#${target}` }, label), ...below);

/** Marks the entry of what crosses a line in the upper part of the window; the innermost, where several do. */
function markCurrent(place: HTMLElement): void {
  const links = [...place.querySelectorAll('a')];
  const crossing = new Set<Element>();
  const observer = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        if (isIntersecting) crossing.add(target);
        else crossing.delete(target);
      }
      const current = links.findLast(({ hash }) => [...crossing].some(({ id }) => hash === `#${id}`));
      for (const link of links) {
        if (link === current) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-25% 0% -75% 0%' },
  );
  for (const { hash } of links) {
    const target = document.getElementById(hash.slice(1));
    if (target !== null) observer.observe(target);
  }
}
