const PARAMETERS = /;[\t ]*([^\t ;,="]+)(?:[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([^\t ;,"]*)))?/g;
const LINKS = new RegExp(`<([^>]*)>((?:[\\t ]*${PARAMETERS.source})*)`, 'g');

/**
 * The target of the first link with the relation (RFC 8288), as a whole URL; `undefined` if there is none.
 * @param base what a relative target is relative to
 */
export function linkTarget(header: string, relation: string, base: string): URL | undefined {
  for (const [, target = '', parameters = ''] of header.matchAll(LINKS)) {
    if (!relationsOf(parameters).includes(relation)) continue;
    return URL.canParse(target, base) ? new URL(target, base) : undefined;
  }
  return undefined;
}

/** Of several `rel` the first counts (RFC 8288, 3.3). Relations' names have no case. */
function relationsOf(parameters: string): readonly string[] {
  for (const [, name = '', quoted, bare = ''] of parameters.matchAll(PARAMETERS)) {
    if (name.toLowerCase() === 'rel') return (quoted ?? bare).toLowerCase().split(/[\t ]+/);
  }
  return [];
}
