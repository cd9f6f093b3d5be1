import { readFile, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import type { DocsFile } from '../docs-routes.js';

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml; charset=utf-8'],
]);

/** The scripts as they were compiled; all else is served as it was written, and is in the package beside them. */
const FOLDERS = ['../docs-page/', '../../../../../src/adapters/http/docs-page/'];

/** Reads the files of the docs page from this package. */
export async function readDocsFiles(): Promise<readonly DocsFile[]> {
  const folders = FOLDERS.map((folder) => new URL(folder, import.meta.url));
  const files = await Promise.all(
    folders.map(async (folder) => {
      const names = (await readdir(folder)).filter((name) => TYPES.has(extname(name)));
      return names.map(async (name) => ({
        name,
        type: TYPES.get(extname(name)) ?? '',
        text: await readFile(new URL(name, folder), 'utf8'),
      }));
    }),
  );
  return Promise.all(files.flat());
}
