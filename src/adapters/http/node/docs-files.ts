import { readFile } from 'node:fs/promises';
import type { DocsFile } from '../docs-page/docs-routes.js';

/** The static files of the docs page, with their types. The build compresses them. */
const FILES = [
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
] as const;

/** Reads the static files of the docs page. Rejects if one cannot be read. */
export async function readDocsFiles(): Promise<readonly DocsFile[]> {
  return Promise.all(
    FILES.map(async ([name, type]) => {
      const gzip = await readFile(new URL(`../docs-page/${name}.gz`, import.meta.url));
      return { name, type, gzip };
    }),
  );
}
