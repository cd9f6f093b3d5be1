import { ERRORS, type ErrorCode } from '../error-codes.js';
import type { HttpSettings } from '../http-settings.js';
import { HEADERS } from '../open-api/headers.js';
import { isRemoved, type Deprecation, type Operation } from '../operations.js';
import { day, markup, prose, statusView, type Content, type Markup } from './markup.js';
import { membersView, schemaLink, schemaName, valueText } from './schema-view.js';
import { tryView } from './try-view.js';

/** An operation: what it does, a form to try it, its responses. */
export function operationView(id: string, operation: Operation, settings: HttpSettings): Markup {
  const { method, path, summary, description, stability, deprecation, scope, parameters } = operation;
  const removed = isRemoved(id, settings);
  const mark = removed ? 'Removed' : deprecation && 'Deprecated';
  return markup`<article class="operation" id="${id}" aria-labelledby="${id}-title">
  <div class="about">
    <h2><span id="${id}-title">${summary}</span>
      ${mark && markup`<span class="warning">${mark}</span>`}
      ${stability && markup`<span class="hint">${stability}</span>`}</h2>
    <p><code><b>${method}</b> ${settings.basePath}${path}</code> <span class="hint">operation <code>${id}</code></span></p>
    ${!removed && markup`<p class="to-try"><a href="#${id}-try">Try it</a></p>`}
    ${deprecation && noteView(id, deprecation, removed, settings.deprecatedSince)}
    <p>${prose(description)}</p>
    <p>The API key needs the scope <code>${scope}</code>.</p>
    ${!removed && [parametersView(id, parameters), bodyView(operation)]}
  </div>
  ${!removed && [tryView(id, operation), responsesView(operation)]}
</article>`;
}

function noteView(id: string, { sunset, advice }: Deprecation, removed: boolean, since: Date): Markup {
  const state = removed
    ? markup`<strong>This service has removed <code>${id}</code>.</strong> Requests get 410 <code>operation_removed</code>.`
    : markup`<strong>Deprecated on ${day(since)}, to be removed on ${day(sunset)}.</strong>`;
  return markup`<p class="note">${state} ${prose(advice)}</p>`;
}

const parametersView = (id: string, parameters: Operation['parameters']): Markup =>
  markup`<h3>Parameters</h3>
  <dl class="members">${Object.entries(parameters).map(
    ([name, { in: place, description, schema }]) => markup`<div>
      <dt><code><b>${name}</b></code> <span class="hint">${place}, ${place === 'path' ? 'required' : 'optional'}</span></dt>
      <dd id="${id}-${name}-about"><p>${prose(description)}</p><p class="hint">${valueText(schema)}</p></dd>
    </div>`,
  )}</dl>`;

const bodyView = ({ body }: Operation): Content =>
  body &&
  markup`<h3 id="${schemaName(body.schema)}">Body: ${schemaName(body.schema)}</h3>
  <p>${prose(body.description)}</p>
  ${membersView(body.schema)}`;

function responsesView({ success, conditional, errors }: Operation): Markup {
  const headers = [...(conditional ? (['EntityTag'] as const) : []), ...(success.headers ?? [])];
  return markup`<div class="responses">
  <h3>Responses</h3>
  <dl class="pairs">
    <dt>${statusView(success.status)}</dt>
    <dd><p>${prose(success.description)}${success.schema && markup` Body: ${schemaLink(success.schema)}.`}</p>${headers.map(
      (header) =>
        markup`<p class="hint"><code>${HEADERS[header].name}</code>: ${prose(HEADERS[header].description)}</p>`,
    )}</dd>
    ${conditional && markup`<dt>${statusView(304)}</dt><dd>Nothing has changed since the response with the <code>ETag</code> in <code>If-None-Match</code>.</dd>`}
    ${errorLinks(errors)}
    <dt>…</dt><dd>As from every operation: 401, 403, 500, 503 and other <a href="#errors">errors</a>.</dd>
  </dl>
</div>`;
}

/** The codes of an operation with links to their meanings, in a row for each status. */
const errorLinks = (codes: readonly ErrorCode[]): Content =>
  [...Map.groupBy(codes, (code) => ERRORS[code].status)]
    .toSorted(([one], [other]) => one - other)
    .map(([status, ids]) => markup`<dt>${statusView(status)}</dt><dd>${links(ids)}</dd>`);

const links = (ids: readonly string[]): Content =>
  ids.map((id, index) => [index > 0 && ', ', markup`<a href="#${id}"><code>${id}</code></a>`]);
