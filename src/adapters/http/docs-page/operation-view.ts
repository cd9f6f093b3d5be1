import { blocks, day, element, line, prose, type Content } from './element.js';
import type { Answer, Body, Deprecation, Operation, Parameter } from './interface-document.js';
import { readBlocks } from './markdown.js';
import { exampleView, schemaName, valueText } from './schema-view.js';
import type { Schemas } from './schema-text.js';
import { tryIt, type Caller } from './try-it.js';

/** All that the document says of an operation, and a form to try it. */
export function operationView(operation: Operation, schemas: Schemas, caller: Caller): HTMLElement {
  const { id, method, path, summary, deprecation, stability, parameters, body, answers } = operation;
  const title = element('h3', { id: `${id}-title` }, summary);
  return element(
    'article',
    { id, class: 'operation', 'aria-labelledby': title.id },
    element(
      'header',
      {},
      title,
      deprecation && element('span', { class: 'badge warns' }, 'Deprecated'),
      stability === '' ? undefined : element('span', { class: 'badge' }, stability),
      element(
        'p',
        { class: 'route' },
        element('code', {}, element('b', { class: `is-${method.toLowerCase()}` }, method), ` ${path}`),
        element('a', { href: `#${id}`, class: 'hint' }, element('code', {}, id)),
      ),
    ),
    element(
      'div',
      { class: 'halves' },
      element(
        'div',
        { class: 'about' },
        descriptionView(operation),
        parameters.length > 0 ? parametersView(parameters, schemas) : undefined,
        body && bodyView(body, schemas),
        part(
          'Answers',
          answers.map((answer) => answerView(answer, schemas)),
        ),
      ),
      tryIt(operation, schemas, caller),
    ),
  );
}

/** The description; what it says of a deprecation stands out, and is said in any case. */
function descriptionView({ description, deprecation }: Operation): Content {
  const read = readBlocks(description);
  if (deprecation === undefined) return blocks(read);
  const told = read.find(
    ({ ...block }) =>
      block.kind === 'paragraph' &&
      block.text[0]?.kind === 'strong' &&
      /^deprecated/i.test(block.text[0].text),
  );
  return [
    element('div', { class: 'note' }, told ? blocks([told]) : deprecationText(deprecation)),
    blocks(read.filter((block) => block !== told)),
  ];
}

const deprecationText = ({ since, sunset }: Deprecation): HTMLElement =>
  element(
    'p',
    {},
    element('strong', {}, 'Deprecated'),
    since ? [' since ', day(since)] : [],
    sunset ? [', to be removed on ', day(sunset)] : [],
    '.',
  );

function parametersView(parameters: readonly Parameter[], schemas: Schemas): HTMLElement {
  const views = parameters.map(({ name, place, required, description, schema }) => {
    const where = place === 'header' ? 'headers' : place;
    return element(
      'div',
      {},
      element(
        'dt',
        {},
        element('code', {}, name),
        element('span', { class: 'hint' }, `in the ${where}${required ? ', required' : ''}`),
      ),
      element('dd', {}, prose(description), valueText(schema, schemas)),
    );
  });
  return part('Parameters', element('dl', { class: 'members' }, views));
}

function bodyView(body: Body, schemas: Schemas): HTMLElement {
  return part(
    'Body',
    element(
      'p',
      {},
      schemaName(body.schema, schemas),
      `, ${body.required ? 'required' : 'may be left out'}. `,
      line(body.description),
    ),
    examplesView(body),
  );
}

function answerView(answer: Answer, schemas: Schemas): HTMLElement {
  const { status, description, codes, headers, body } = answer;
  return element(
    'details',
    { class: 'answer' },
    element(
      'summary',
      {},
      element('b', { class: `is-${status.charAt(0)}xx` }, status),
      element(
        'span',
        {},
        codes.length > 0
          ? codes.map(({ code }, index) => [index > 0 ? ', ' : '', element('code', {}, code)])
          : line(description),
      ),
    ),
    element(
      'div',
      { class: 'more' },
      codes.length > 0 ? prose(description) : undefined,
      body && element('p', {}, 'Body: ', schemaName(body.schema, schemas)),
      body && examplesView(body),
      headers.length > 0 ? element('p', { class: 'over' }, 'Headers') : undefined,
      headers.length > 0
        ? element(
            'dl',
            { class: 'headers' },
            headers.map((header) =>
              element(
                'div',
                {},
                element('dt', {}, header.name),
                element(
                  'dd',
                  {},
                  line(header.description),
                  header.example ? element('code', { class: 'example' }, header.example) : [],
                ),
              ),
            ),
          )
        : undefined,
    ),
  );
}

const examplesView = ({ examples }: Body): readonly HTMLElement[] =>
  examples.map(({ text }) => exampleView(text));

const part = (heading: string, ...content: readonly Content[]): HTMLElement =>
  element('div', {}, element('h4', {}, heading), ...content);
