// Keeps the table of docs/operations/settings.md, which is made of the table in src/bootstrap/service/settings.ts:
// npm run settings. With --check it writes nothing, and fails if the page is stale. Run it after the build.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const page = fileURLToPath(new URL('../docs/operations/settings.md', import.meta.url));
const { SETTINGS } = await import(
  new URL('../build/src/bootstrap/service/settings.js', import.meta.url).href
);

/** The rule for the values of a setting: what it says of a value that breaks every rule. */
function ruleOf({ read }) {
  try {
    read(' ?! ');
    return '';
  } catch ({ message }) {
    // Such as "must be a date such as 2026-11-20", and of a list "must hold ...: entry 1 is not valid".
    return message
      .replace(/^must (?:be|hold) (?:one of )?|: entry 1 is not valid$/g, '')
      .replace(/an? (?:integer|duration|size with a unit,) from (.*?)(?:, such as 5s)?$/, '$1')
      .replace(/^names a file .*/, 'a file');
  }
}

const code = (text) => (text === '' ? '' : `\`${text}\``);
const rows = SETTINGS.map((setting) => [
  code(setting.name),
  setting.help.replace(/ \(default: .*\)/, ''),
  ruleOf(setting),
  /\(default: (.*)\)/.exec(setting.help)?.[1] ?? code(setting.default),
]);
const table = [['setting', 'meaning', 'values', 'default'], ['---', '---', '---', '---'], ...rows]
  .map((cells) => `| ${cells.join(' | ')} |`)
  .join('\n');

const written = readFileSync(page, 'utf8');
const options = { ...(await resolveConfig(page)), parser: 'markdown' };
const made = await format(
  written.replace(/^\|[^]*?\|$(?!\n\|)/m, () => table),
  options,
);
if (!process.argv.includes('--check')) writeFileSync(page, made);
else if (made !== written) {
  console.error('docs/operations/settings.md is stale: npm run settings');
  process.exitCode = 1;
}
