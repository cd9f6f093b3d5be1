import {
  JSON_TYPE,
  REVALIDATED,
  UNCACHED,
  encodedForLink,
  type HttpRequest,
  type HeaderFields,
} from './http-message.js';
import { fitsPolicy, type HttpSettings } from './http-settings.js';
import { entityTagOf } from './entity-tag.js';
import { respondConditionally } from './preconditions.js';
import { openRoute, type Route } from './routes.js';

/** A static file of the docs page, as text. */
export interface DocsFile {
  /** Its path below `/docs/`. */
  readonly name: string;
  /** Its media type with charset. */
  readonly type: string;
  /** Its content, sent as UTF-8. */
  readonly text: string;
}

const HTML_TYPE = 'text/html; charset=utf-8';

export const DOCS_PATH = '/docs';

/** Resolves to the OpenAPI 3.1 document of a service with these settings, as JSON text. Loads its generator. */
export async function loadOpenApiDocument(settings?: Partial<HttpSettings>): Promise<string> {
  const { openApiDocument } = await import('./open-api/open-api-document.js');
  return openApiDocument(settings);
}

/** `/openapi.json`: the OpenAPI document. */
export const documentRoute = (settings: HttpSettings): Route =>
  fileRoute('/openapi.json', JSON_TYPE, () => loadOpenApiDocument(settings));

/**
 * The docs page at `/docs` and its static files below it. `/` redirects to it. All references are relative, so that a
 * proxy may put everything below another path.
 */
export function docsRoutes(files: readonly DocsFile[], settings: HttpSettings): Route[] {
  const headers = securityHeaders(settings);
  const loadPage = async (): Promise<string> => {
    const { docsPage } = await import('./docs-page/docs-page.js');
    return docsPage(settings);
  };
  return [
    openRoute('/', {
      handle({ request }) {
        const Location = `${folderOf(request)}docs`;
        return {
          status: 307,
          headers: { ...headers, 'Content-Type': HTML_TYPE, ...UNCACHED, Location },
          body: `<!doctype html><title>Docs</title><a href="${Location}">Docs</a>\n`,
        };
      },
    }),
    fileRoute(DOCS_PATH, HTML_TYPE, loadPage, headers),
    ...files.map(({ name, type, text }) =>
      fileRoute(`${DOCS_PATH}/${name}`, type, async () => text, headers),
    ),
  ];
}

/** The relative path to the service's folder, needed where a host has mounted it without a slash at the end. */
const folderOf = ({ path, originalPath = path }: HttpRequest): string => {
  const last = originalPath.slice(originalPath.lastIndexOf('/') + 1);
  return last === '' ? '' : `./${encodedForLink(last)}/`; // without the dot, a colon would make it a scheme
};

/**
 * A route whose body is loaded at its first request, and then kept. Loading the generators of document and page at the
 * start would take a fifth of its time.
 */
function fileRoute(
  path: string,
  type: string,
  load: () => Promise<string>,
  others: HeaderFields = {},
): Route {
  const headers = { ...others, 'Content-Type': type, ...REVALIDATED };
  // Results are kept, not promises: not every runtime lets one request wait for the promise of another.
  let body: string | undefined;
  let entityTag: string | undefined;
  return openRoute(path, {
    async handle({ request }) {
      body ??= await load();
      entityTag ??= await entityTagOf(body);
      return respondConditionally(request, { status: 200, headers, body }, entityTag);
    },
  });
}

/**
 * The page may load its own files and send requests to the service, here and at its published addresses. No other page
 * may frame it.
 */
function securityHeaders({ publicUrl, stagingUrl }: HttpSettings): HeaderFields {
  // An address that is a path has the origin of the page itself.
  const addresses = [publicUrl, stagingUrl].flatMap((url) =>
    url === undefined || url.startsWith('/') || !fitsPolicy(url) ? [] : [new URL(url).origin],
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
