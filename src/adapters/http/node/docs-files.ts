import { readFile } from 'node:fs/promises';
import type { DocsFile } from '../docs-routes.js';

/** This package: the module runs in `build/src/adapters/http/node/`. */
const PACKAGE = new URL('../../../../../', import.meta.url);

const PAGE = 'src/adapters/http/docs-page/';
const SCRIPTS = ['page.js', 'request.js', 'response.js'];

/** The static files in the package: styles and pictures as they were written, scripts as they were compiled. */
const FILES = [
  `${PAGE}page.css`,
  `${PAGE}icon.svg`,
  ...SCRIPTS.map((script) => `build/${PAGE}browser/${script}`),
  'build/src/exact-json.js',
];

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

/**
 * Reads the static files of the docs page. Skips a file that it cannot read: the service runs without it, and
 * responds 404 for it.
 * @param packageRoot the folder of this package, ending in a slash. Default: found from this module, which a bundler
 * may have moved.
 */
export async function readDocsFiles(packageRoot: URL = PACKAGE): Promise<readonly DocsFile[]> {
  const files = await Promise.all(
    FILES.map(async (path) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      const text = await readFile(new URL(path, packageRoot), 'utf8').catch(() => undefined);
      if (text === undefined) return [];
      // Browsers get all scripts from one folder.
      const flat = text.replaceAll("'../../../../exact-json.js'", "'./exact-json.js'");
      return [{ name, type: TYPES[name.replace(/.*\./, '')] ?? '', text: flat }];
    }),
  );
  return files.flat();
}
