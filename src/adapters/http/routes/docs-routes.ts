import { conditional } from '../answer/conditional.js';
import type { HttpAnswer, HttpRequest } from '../http-message.js';
import type { HttpSettings } from '../http-settings.js';
import type { Route } from './route.js';

/** A file of the docs page, as text. */
export interface DocsFile {
  /** Without a folder; the page itself is `page.html`. */
  readonly name: string;
  /** Its media type (RFC 9110, 8.3.1), charset included. */
  readonly type: string;
  /** Its content, sent as UTF-8. In the page `{{basePath}}` stands for the base path, which is filled in. */
  readonly text: string;
}

/** Where the docs page is. */
export const DOCS_PATH = '/docs';

/**
 * The docs page at `/docs`, its files below; `/` and `/docs/` lead there. All references are relative, so
 * that a proxy may put the whole below another path.
 */
export function docsRoutes(files: readonly DocsFile[], settings: HttpSettings): Route[] {
  const headers = securityHeaders(settings);
  return [
    openRoute('/', async () => redirect(DOCS_PATH.slice(1), headers)),
    openRoute(`${DOCS_PATH}/`, async () => redirect(`..${DOCS_PATH}`, headers)),
    ...files.map(({ name, type, text }) => {
      const isPage = name === 'page.html';
      const body = isPage ? text.replace('{{basePath}}', settings.basePath.slice(1)) : text;
      const found = {
        status: 200,
        headers: { ...headers, 'Content-Type': type, 'Cache-Control': 'private, no-cache' },
        body,
      };
      return openRoute(isPage ? DOCS_PATH : `${DOCS_PATH}/${name}`, (request) => conditional(request, found));
    }),
  ];
}

/**
 * The page may load its own files, ask the service, and nothing else; no other page may frame it. The
 * published addresses are there to be tried from it.
 */
function securityHeaders({ publicUrl, stagingUrl }: HttpSettings): Readonly<Record<string, string>> {
  // A path is of the origin that the page comes from.
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
    'Content-Type': 'text/html; charset=utf-8',
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
