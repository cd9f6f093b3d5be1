import { conditional } from '../answer/conditional.js';
import { docsPage } from '../docs-page/docs-page.js';
import type { HttpAnswer, HttpRequest } from '../http-message.js';
import type { HttpSettings } from '../http-settings.js';
import type { Route } from './route.js';

/** A static file of the docs page, as text. */
export interface DocsFile {
  /** Its path below `/docs/`. */
  readonly name: string;
  /** Its media type (RFC 9110, 8.3.1), charset included. */
  readonly type: string;
  /** Its content, sent as UTF-8. */
  readonly text: string;
}

/** Where the docs page is. */
export const DOCS_PATH = '/docs';

/**
 * The docs page at `/docs`, rendered once, and its static files below. `/` and `/docs/` redirect to the page. All
 * references are relative, so that a proxy may add a prefix.
 */
export function docsRoutes(files: readonly DocsFile[], settings: HttpSettings): Route[] {
  const headers = securityHeaders(settings);
  const fileRoute = (path: string, type: string, body: string): Route => {
    const found = {
      status: 200,
      headers: { ...headers, 'Content-Type': type, 'Cache-Control': 'private, no-cache' },
      body,
    };
    return openRoute(path, (request) => conditional(request, found));
  };
  return [
    openRoute('/', async () => redirect(DOCS_PATH.slice(1), headers)),
    openRoute(`${DOCS_PATH}/`, async () => redirect(`..${DOCS_PATH}`, headers)),
    fileRoute(DOCS_PATH, HTML_TYPE, docsPage(settings)),
    ...files.map(({ name, type, text }) => fileRoute(`${DOCS_PATH}/${name}`, type, text)),
  ];
}

const HTML_TYPE = 'text/html; charset=utf-8';

/**
 * The page may load its own files and send requests to this service and its published addresses, nothing else. No
 * other page may frame it.
 */
function securityHeaders({ publicUrl, stagingUrl }: HttpSettings): Readonly<Record<string, string>> {
  // A path is on the page's own origin.
  const addresses = [publicUrl, stagingUrl].flatMap((url) =>
    url === undefined || url.startsWith('/') ? [] : [new URL(url).origin],
  );
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...addresses].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

const redirect = (location: string, headers: Readonly<Record<string, string>>): HttpAnswer => ({
  status: 307,
  headers: {
    ...headers,
    'Content-Type': HTML_TYPE,
    'Cache-Control': 'no-store',
    Location: location,
  },
  body: `<!doctype html><title>Animal Store</title><a href="${location}">The documentation</a>\n`,
});

const openRoute = (path: string, answer: (request: HttpRequest) => Promise<HttpAnswer>): Route => ({
  path,
  open: true,
  endpoints: new Map([['GET', { answer: ({ request }) => answer(request) }]]),
  headers: {},
});
