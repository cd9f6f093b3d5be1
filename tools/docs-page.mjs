// Copies the files of Swagger UI that the docs page serves into the build, compressed as they are sent, and its licences.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const from = fileURLToPath(new URL('.', import.meta.resolve('swagger-ui-dist/package.json')));
const to = fileURLToPath(new URL('../build/src/adapters/http/docs-page/', import.meta.url));

mkdirSync(to, { recursive: true });
for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
  writeFileSync(`${to}${name}.gz`, gzipSync(readFileSync(from + name), { level: 9 }));
for (const name of ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'])
  copyFileSync(from + name, to + name);
