import { accessView } from './access.js';
import { anchorOf, capitalised, showContents } from './contents.js';
import { blocks, element, line, prose, type Content } from './element.js';
import { readInterface, type ErrorCode, type InterfaceDocument } from './interface-document.js';
import { readJson } from './json-text.js';
import { readSections, type Section } from './markdown.js';
import { operationView } from './operation-view.js';
import { schemaView } from './schema-view.js';

const DOCUMENT = new URL('openapi.json', location.href);

async function show(): Promise<void> {
  const state = byId('state');
  try {
    const response = await fetch(DOCUMENT, { cache: 'no-cache', credentials: 'omit' });
    if (!response.ok) throw new Error(`it was answered with ${response.status}`);
    render(readInterface(readJson(await response.text())));
    state.remove();
    // What the address points to is there only now.
    if (location.hash !== '')
      document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: 'instant' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    state.textContent = `The description of the interface could not be read: ${reason}. Load the page again.`;
  }
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

function render(described: InterfaceDocument): void {
  const { title, version, description, servers, security, groups, errors, schemas } = described;
  const { lead, sections } = readSections(description);
  const { view: access, caller } = accessView(servers, security, DOCUMENT);
  const operations = groups.map(({ name, description: about, operations: own }) =>
    section(
      name,
      capitalised(name),
      prose(about),
      own.map((operation) => operationView(operation, schemas, caller)),
    ),
  );
  document.title = title;
  byId('title').textContent = title;
  byId('version').textContent = `Interface ${version}`;
  byId('lead').replaceChildren(...blocks(lead));
  byId('content').append(
    access,
    ...operations,
    ...guideViews(sections, errors),
    section(
      'schemas',
      'Schemas',
      schemas.named().map(([name, schema]) => schemaView(name, schema, schemas)),
    ),
  );
  showContents(
    byId('contents'),
    groups,
    guide(sections).map(({ heading }) => heading),
  );
}

/** The sections of the description, and the codes of errors among them, in their place if there is one. */
const guide = (sections: readonly Section[]): readonly Section[] =>
  sections.some(({ heading }) => heading === ERRORS)
    ? sections
    : [...sections, { heading: ERRORS, blocks: [] }];

const ERRORS = 'Errors';

const guideViews = (sections: readonly Section[], errors: readonly ErrorCode[]): readonly HTMLElement[] =>
  guide(sections).map(({ heading, blocks: text }) =>
    section(
      anchorOf(heading),
      heading,
      element('div', { class: 'guide' }, blocks(text)),
      heading === ERRORS ? errorsView(errors) : undefined,
    ),
  );

const section = (id: string, heading: string, ...content: readonly Content[]): HTMLElement =>
  element(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, heading),
    ...content,
  );

const cell = (...content: readonly Content[]): HTMLElement => element('td', { role: 'cell' }, ...content);

/** Roles are said, because a table that is laid out as a list loses those it has by itself. */
function errorsView(errors: readonly ErrorCode[]): HTMLElement {
  const titles = ['Code', 'Status', 'Meaning', 'Answered by'];
  const rows = errors.map(({ code, status, meaning, operations }) =>
    element(
      'tr',
      { role: 'row' },
      element('th', { scope: 'row', role: 'rowheader' }, element('code', {}, code)),
      cell(status),
      cell(line(meaning)),
      cell(operations.map((id, index) => [index > 0 ? ', ' : '', element('a', { href: `#${id}` }, id)])),
    ),
  );
  const heads = titles.map((title) => element('th', { scope: 'col', role: 'columnheader' }, title));
  return element(
    'table',
    { role: 'table' },
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, heads)),
    element('tbody', { role: 'rowgroup' }, rows),
  );
}

void show();
