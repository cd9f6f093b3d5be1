// Holds the manifests to the schemas of Kubernetes.
import { globSync } from 'node:fs';

/** From PyPI: CHECKERS names the folder, as for the tests. */
export const needs = { 'kubernetes-validate': undefined };

export async function run({ root, sh, show }) {
  for (const file of globSync('docs/operations/kubernetes*.yaml', { cwd: root }).sort()) {
    const said = sh(`kubernetes-validate --strict ${file} 2>&1`, { env: { NO_COLOR: '1' } });
    const passed = said.match(/passed for resource/g)?.length ?? 0;
    const documents = Number(sh(`grep --count '^kind:' ${file}`));
    show(`${file} is valid`, passed === documents, `${passed} of ${documents} resources`);
  }
}
