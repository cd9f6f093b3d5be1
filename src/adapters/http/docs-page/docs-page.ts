import { ERRORS, type ErrorCode } from '../error-codes.js';
import { fitsPolicy, type HttpSettings } from '../http-settings.js';
import { OPERATIONS, isRemoved, servedOperations, type Operation } from '../operations.js';
import { markup, methodView, type Content, type Markup } from './markup.js';
import { errorView, operationView } from './operation-view.js';
import { schemasView } from './schema-view.js';

/**
 * The docs page as HTML: every operation with a form to try it, the errors and the schemas. References are relative to
 * `/docs`.
 */
export function docsPage(settings: HttpSettings): string {
  const operations = servedOperations(settings).filter(([id]) => !isRemoved(id, settings));
  const links = operations.map(
    ([id, { method, summary, deprecation }]) =>
      markup`<li><a href="#${id}">${methodView(method)} <span>${summary}${deprecation && ' (deprecated)'}</span></a></li>`,
  );
  const views = operations.map(([id, operation]) => operationView(id, operation, settings));
  return markup`<!doctype html>
<html lang="en">
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
    ${links}
    <li><a href="#errors">Errors</a></li>
    <li><a href="#schemas">Schemas</a></li>
  </ul></nav>
</header>
<main id="content">
  ${views}
  <section id="errors"><h2>Errors</h2>
    <p>Every error is a JSON object with <code>code</code>, <code>message</code> and
      <code>status</code>. Programs decide by <code>code</code>: its meaning never changes. The
      <code>message</code> is for people. The header <code>X-Request-Id</code> names the request in
      the log of the service. Beside its own, an operation can have these:</p>
    ${errorsView(settings)}</section>
  <section id="schemas"><h2>Schemas</h2>
    <p>Integers are exact to the last digit, here too. Many JSON libraries round them:
      <code>JSON.parse</code> of JavaScript silently does beyond ±9007199254740991.</p>
    ${schemasView()}</section>
</main>
</body>
</html>
`.html;
}

/** The API key and the address that all operations use. */
function accessView({ basePath, publicUrl, stagingUrl }: HttpSettings): Markup {
  const addresses = {
    'This service': basePath.slice(1),
    Production: publicUrl,
    Staging: stagingUrl,
  };
  const options = Object.entries(addresses).map(
    ([name, url]) => url && fitsPolicy(url) && markup`<option value="${url}">${name}</option>`,
  );
  return markup`<section class="access" aria-label="Access">
    <label for="key">API key</label>
    <input id="key" type="password" autocomplete="off" autocapitalize="off"
      spellcheck="false" aria-describedby="key-hint">
    <p class="hint" id="key-hint">Kept in this page only, until you close or reload it.</p>
    <label for="address">Address</label>
    <select id="address">${options}</select>
  </section>`;
}

/** The operation whose scope and method are in the examples of errors that any operation can have. */
const EXAMPLE = OPERATIONS.getPet;

/** The errors that no operation has for itself. */
function errorsView(settings: HttpSettings): Content {
  const own = new Set(Object.values<Operation>(OPERATIONS).flatMap(({ errors }) => errors));
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.filter((code) => !own.has(code)).map((code) => errorView(code, EXAMPLE, settings));
}
