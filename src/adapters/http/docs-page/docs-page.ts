import { ERRORS, type ErrorDescription } from '../error-codes.js';
import type { HttpSettings } from '../http-settings.js';
import { OPERATIONS, servedOperations, type Operation } from '../operations.js';
import { guide } from './guide.js';
import { markup, prose, statusView, type Markup } from './markup.js';
import { operationView } from './operation-view.js';
import { schemasView } from './schema-view.js';

/**
 * The docs page as HTML: every operation with a form to try it, a short guide, the errors and the schemas.
 * References are relative to `/docs`.
 */
export const docsPage = (settings: HttpSettings): string =>
  `<!doctype html>\n${
    markup`<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Animal Store</title>
  <link rel="icon" type="image/svg+xml" href="docs/icon.svg">
  <link rel="stylesheet" href="docs/page.css">
  <script type="module" src="docs/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the operations</a>
<header>
  <h1><img src="docs/icon.svg" alt="" width="36" height="36"> Animal Store</h1>
  <p>List the animals of a store, add one, get one. Try every operation here, with your own API key.
    Tools read the <a href="openapi.json">OpenAPI document</a>.</p>
  <noscript><p class="note">To try the operations, turn on JavaScript.</p></noscript>
  ${accessView(settings)}
  ${contentsView(settings)}
</header>
<main id="content">
  ${servedOperations(settings).map(([id, operation]) => operationView(id, operation, settings))}
  ${Object.entries(guide(settings)).map(
    ([title, paragraphs]) =>
      markup`<section id="${anchor(title)}"><h2>${title}</h2>${paragraphs.map((text) => markup`<p>${prose(text)}</p>`)}</section>`,
  )}
  <section id="errors"><h2>Errors</h2>
    <p>Every error is a JSON object with <code>code</code>, <code>message</code> and <code>status</code>.
      Programs decide by <code>code</code>: its meaning never changes. The <code>message</code> is for people.</p>
    ${errorsView(settings)}</section>
  <section id="schemas"><h2>Schemas</h2>${schemasView()}</section>
</main>
</body>
</html>
`.html
  }`;

const anchor = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

/** The API key and the address that all operations use. The script selects the address that fits the page's own. */
function accessView({ basePath, publicUrl, stagingUrl }: HttpSettings): Markup {
  const addresses = [
    ...(publicUrl === undefined ? [] : [markup`<option value="${publicUrl}">Production</option>`]),
    ...(stagingUrl === undefined ? [] : [markup`<option value="${stagingUrl}">Staging</option>`]),
    markup`<option value="${basePath.slice(1)}" class="own">This service</option>`,
  ];
  return markup`<form class="access" autocomplete="off" aria-label="Access">
    <div class="wide">
      <label for="key">API key</label>
      <input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-fault key-hint">
      <p class="fault" id="key-fault" role="alert"></p>
      <p class="hint" id="key-hint">Kept in this page only, until you close or reload it.</p>
    </div>
    <div class="wide">
      <label for="address">Address</label>
      <select id="address">${addresses}</select>
    </div>
  </form>`;
}

const contentsView = (settings: HttpSettings): Markup => markup`<nav aria-label="On this page"><ul>
    ${servedOperations(settings).map(
      ([id, { summary, deprecation }]) =>
        markup`<li><a href="#${id}">${summary}</a>${deprecation && markup` <span class="hint">deprecated</span>`}</li>`,
    )}
    ${Object.keys(guide(settings)).map((title) => markup`<li><a href="#${anchor(title)}">${title}</a></li>`)}
    <li><a href="#errors">Errors</a></li>
    <li><a href="#schemas">Schemas</a></li>
  </ul></nav>`;

const codesOf = (operations: readonly Operation[]) => operations.flatMap(({ errors }) => errors);

/** Every error code, by status, except those of operations that are not served. */
function errorsView(settings: HttpSettings): Markup {
  const served = servedOperations(settings).map(([, operation]) => operation);
  const absent = new Set<string>(codesOf(Object.values(OPERATIONS)));
  for (const code of codesOf(served)) absent.delete(code);
  const shown = Object.entries<ErrorDescription>(ERRORS).filter(([code]) => !absent.has(code));
  return markup`<dl class="members">${shown.map(
    ([code, { status, message, meaning = message }]) => markup`<div id="${code}">
      <dt>${statusView(status)} <code><b>${code}</b></code></dt>
      <dd><p>${prose(meaning)}</p></dd>
    </div>`,
  )}</dl>`;
}
