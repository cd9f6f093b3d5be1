import { readFile } from 'node:fs/promises';
import type { DocsFile } from '../docs-routes.js';

/** This package: the module runs in `build/src/adapters/http/node/`. */
const PACKAGE = new URL('../../../../../', import.meta.url);

const PAGE = 'src/adapters/http/docs-page/';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The static files in the package, with their types: styles and pictures as written, scripts as compiled. */
const FILES: ReadonlyArray<readonly [path: string, type: string]> = [
  [`${PAGE}page.css`, 'text/css; charset=utf-8'],
  [`${PAGE}icon.svg`, 'image/svg+xml; charset=utf-8'],
  [`build/${PAGE}browser/page.js`, SCRIPT],
  [`build/${PAGE}browser/request.js`, SCRIPT],
  ['build/src/exact-json.js', SCRIPT],
];

/** Reads the static files of the docs page. Rejects if one cannot be read. */
export async function readDocsFiles(): Promise<readonly DocsFile[]> {
  const files = FILES.map(async ([path, type]) => {
    const text = await readFile(new URL(path, PACKAGE), 'utf8');
    // Browsers get all scripts from one folder.
    const flat = text.replaceAll(/'(?:\.\.\/)+([\w-]+\.js)'/g, "'./$1'");
    return { name: path.replace(/.*\//, ''), type, text: flat };
  });
  return Promise.all(files);
}
