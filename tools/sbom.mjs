// Writes sbom.cdx.json, the packages that the library needs with their licences, as CycloneDX: runs on packing. npm
// makes the list; its --omit=dev also omits what a development dependency shares, so this leaves those out itself.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = ['sbom', '--sbom-format=cyclonedx', '--workspaces=false', '--loglevel=error'];
const bill = JSON.parse(
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }),
);
const isDevelopment = ({ properties = [] }) =>
  properties.some(({ name }) => name === 'cdx:npm:package:development');
bill.components = bill.components.filter((component) => !isDevelopment(component));
const kept = new Set(
  [bill.metadata.component, ...bill.components].map((component) => component['bom-ref']),
);
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
// npm takes the name of the folder.
bill.metadata.component.name = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).name;
writeFileSync(new URL('../sbom.cdx.json', import.meta.url), `${JSON.stringify(bill)}\n`);
