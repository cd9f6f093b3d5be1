// Empties the build folder, so that no output of a deleted source keeps running.
import { rmSync } from 'node:fs';

for (const folder of ['build', 'coverage']) {
  rmSync(new URL(`../${folder}`, import.meta.url), { recursive: true, force: true });
}
