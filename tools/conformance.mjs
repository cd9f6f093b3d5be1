// Writes docs/conformance.md from the interface's promises and the tests that show them. Run it after the build.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const { conformanceDocument, testNames } = await import(new URL('build/test/http/conformance.js', root).href);

mkdirSync(new URL('docs', root), { recursive: true });
const names = testNames(fileURLToPath(new URL('test', root)));
writeFileSync(new URL('docs/conformance.md', root), conformanceDocument(names));
