import { ERRORS, type ErrorDescription } from '../error-codes.js';
import { fitsPolicy, type HttpSettings } from '../http-settings.js';
import { OPERATIONS, isRemoved, servedOperations, type Operation } from '../operations.js';
import { markup, prose, statusView, type Markup } from './markup.js';
import { operationView } from './operation-view.js';
import { schemasView } from './schema-view.js';

/**
 * The docs page as HTML: every operation with a form to try it, the errors and the schemas. References are relative to
 * `/docs`.
 */
export function docsPage(settings: HttpSettings): string {
  const operations = servedOperations(settings).filter(([id]) => !isRemoved(id, settings));
  return `<!doctype html>\n${
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
  <nav aria-label="On this page"><ul>
    ${operations.map(([id, { summary }]) => markup`<li><a href="#${id}">${summary}</a></li>`)}
    <li><a href="#errors">Errors</a></li>
    <li><a href="#schemas">Schemas</a></li>
  </ul></nav>
</header>
<main id="content">
  ${operations.map(([id, operation]) => operationView(id, operation, settings))}
  <section id="errors"><h2>Errors</h2>
    <p>Every error is a JSON object with <code>code</code>, <code>message</code> and <code>status</code>.
      Programs decide by <code>code</code>: its meaning never changes. The <code>message</code> is for people.
      The header <code>X-Request-Id</code> names the request in the log of the service.</p>
    ${errorsView(operations.map(([, operation]) => operation))}</section>
  <section id="schemas"><h2>Schemas</h2>
    <p>Integers are exact to the last digit, here too. Many JSON libraries round them: <code>JSON.parse</code> of
      JavaScript silently does beyond ±9007199254740991.</p>
    ${schemasView()}</section>
</main>
</body>
</html>
`.html
  }`;
}

/** The API key and the address that all operations use. */
function accessView({ basePath, publicUrl, stagingUrl }: HttpSettings): Markup {
  const addresses = {
    'This service': basePath.slice(1),
    Production: publicUrl,
    Staging: stagingUrl,
  };
  return markup`<section class="access" aria-label="Access">
    <label for="key">API key</label>
    <input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-hint">
    <p class="hint" id="key-hint">Kept in this page only, until you close or reload it.</p>
    <label for="address">Address</label>
    <select id="address">${Object.entries(addresses).map(
      ([name, url]) => url && fitsPolicy(url) && markup`<option value="${url}">${name}</option>`,
    )}</select>
  </section>`;
}

const codesOf = (operations: readonly Operation[]) => operations.flatMap(({ errors }) => errors);

/** Every error code, by status, except those of other operations than these. */
function errorsView(operations: readonly Operation[]): Markup {
  const absent = new Set<string>(codesOf(Object.values(OPERATIONS)));
  for (const code of codesOf(operations)) absent.delete(code);
  const shown = Object.entries<ErrorDescription>(ERRORS).filter(([code]) => !absent.has(code));
  return markup`<dl class="members">${shown.map(
    ([code, { status, message, meaning = message }]) => markup`<div id="${code}">
      <dt>${statusView(status)} <code><b>${code}</b></code></dt>
      <dd><p>${prose(meaning)}</p></dd>
    </div>`,
  )}</dl>`;
}
