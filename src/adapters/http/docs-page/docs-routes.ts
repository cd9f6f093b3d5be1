import { respondConditionally } from '../entity-tag.js';
import { REVALIDATED, UNCACHED, type HeaderFields } from '../http-message.js';
import type { HttpSettings } from '../http-settings.js';
import { openRoute, type Route } from '../routes.js';
import { PAGE, START_SCRIPT } from './docs-page.js';

/** A static file of the docs page. */
export interface DocsFile {
  /** Its path below `/docs/`. */
  readonly name: string;
  /** Its Content-Type. */
  readonly type: string;
  /** Its content, compressed with gzip. */
  readonly gzip: Uint8Array;
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/**
 * The docs page at `/docs`, its files below it, and a redirect from `/`. References are relative, so that a proxy may
 * serve everything below another path.
 */
export function docsRoutes(files: readonly DocsFile[], settings: HttpSettings): Route[] {
  const shared = { 'Content-Security-Policy': contentPolicy(settings), ...REVALIDATED };
  const redirectHeaders = { ...UNCACHED, 'Content-Type': HTML, Location: 'docs' };
  return [
    openRoute('/', {
      handle: () => ({ status: 307, headers: redirectHeaders, body: '<a href="docs">Docs</a>\n' }),
    }),
    textRoute('/docs', { ...shared, 'Content-Type': HTML }, PAGE),
    textRoute('/docs/start.js', { ...shared, 'Content-Type': SCRIPT }, START_SCRIPT),
    ...files.map((file) => fileRoute(file, shared)),
  ];
}

const textRoute = (path: string, headers: HeaderFields, body: string): Route =>
  openRoute(path, {
    handle: ({ request }) => respondConditionally(request, { status: 200, headers, body }),
  });

/** Matches gzip, but not with a quality of 0. */
const GZIP = /\bgzip\b(?! *; *q=0(?:\.0*)? *(?:,|$))/i;

/** Serves a file compressed, or plain to a client that does not accept gzip. */
function fileRoute({ name, type, gzip }: DocsFile, shared: HeaderFields): Route {
  let plain: Promise<Uint8Array> | undefined; // one for all clients: many that never read would exhaust the memory
  return openRoute(`/docs/${name}`, {
    async handle({ request }) {
      const acceptsGzip = GZIP.test(request.header('accept-encoding') ?? '');
      const headers = {
        ...shared,
        'Content-Type': type,
        ...(acceptsGzip && { 'Content-Encoding': 'gzip' }),
        Vary: 'Accept-Encoding, Origin', // also Origin: it replaces the Vary of `crossOriginHeaders`
      };
      const body = acceptsGzip ? gzip : await (plain ??= gunzip(gzip));
      return respondConditionally(request, { status: 200, headers, body });
    },
  });
}

async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
  const content = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(content).arrayBuffer());
}

/**
 * The page may load its own files, and send requests to its own origin and the service's published addresses. No
 * other page may frame it.
 */
function contentPolicy({ publicUrl, stagingUrl }: HttpSettings): string {
  const addresses = [publicUrl, stagingUrl].flatMap((url) => (url ? new URL(url).origin : []));
  return (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    ["connect-src 'self'", ...addresses].join(' ')
  );
}
