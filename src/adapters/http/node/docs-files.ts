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

/**
 * Reads the static files of the docs page. Skips a file that it cannot read: the service runs without it, and
 * responds 404 for it.
 * @param packageRoot the folder of this package, ending in a slash. Default: found from this module, which a bundler
 * may have moved.
 */
export async function readDocsFiles(packageRoot: URL = PACKAGE): Promise<readonly DocsFile[]> {
  const files = await Promise.all(
    FILES.map(async ([path, type]) => {
      const text = await readFile(new URL(path, packageRoot), 'utf8').catch(() => undefined);
      if (text === undefined) return [];
      // Browsers get all scripts from one folder.
      const flat = text.replaceAll(/'(?:\.\.\/)+([\w-]+\.js)'/g, "'./$1'");
      return [{ name: path.replace(/.*\//, ''), type, text: flat }];
    }),
  );
  return files.flat();
}
