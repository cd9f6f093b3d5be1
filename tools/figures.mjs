// Fails when figures in the documents have expired: npm run figures. Below each table of figures a line names the commit,
// the command and the code: "Measured at `COMMIT` by `COMMAND`, of `FOLDER` ...". Figures expire when more than a tenth
// of the tokens of that code has changed since the commit.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const LARGEST_CHANGE = 0.1;
const cwd = fileURLToPath(new URL('..', import.meta.url));
const git = (...args) =>
  execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: 'pipe' });

/**
 * Counts the tokens of a source (names, words and signs), each with the two after it: so a new order is a change, too.
 * Comments and layout do not count.
 */
function countTokens(file, source, counts) {
  const { comments } = parseSync(file, source);
  let code = '';
  let end = 0;
  for (const comment of comments) {
    code += source.slice(end, comment.start);
    end = comment.end;
  }
  code += source.slice(end);
  const tokens = code.match(/[\w$]+|[^\s\w$]/g) ?? [];
  for (const index of tokens.keys()) {
    const key = tokens.slice(index, index + 3).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}

/** The tokens of TypeScript and JavaScript in folders or files, now or at a commit. */
function tokensOf(paths, commit) {
  const counts = new Map();
  const listed =
    commit === undefined
      ? git('ls-files', '--', ...paths)
      : git('ls-tree', '-r', '--name-only', commit, '--', ...paths);
  for (const file of listed.split('\n').filter((name) => /\.(?:ts|mjs)$/.test(name))) {
    const read = () => readFileSync(`${cwd}/${file}`, 'utf8');
    countTokens(file, commit === undefined ? read() : git('show', `${commit}:${file}`), counts);
  }
  return counts;
}

/** The share of tokens that were replaced, added or removed. */
function changeOf(before, now) {
  let total = 0;
  let removed = 0;
  let added = 0;
  for (const count of before.values()) total += count;
  for (const token of new Set([...before.keys(), ...now.keys()])) {
    const difference = (now.get(token) ?? 0) - (before.get(token) ?? 0);
    if (difference > 0) added += difference;
    else removed -= difference;
  }
  return Math.max(added, removed) / total;
}

let found = 0;
for (const page of globSync('docs/*.md', { cwd }).sort()) {
  const text = readFileSync(`${cwd}/${page}`, 'utf8');
  for (const [, commit, command, code] of text.matchAll(
    /^Measured at `(\w+)` by `([^`]+)`, of (.+)\.$/gm,
  )) {
    found += 1;
    const paths = [...code.matchAll(/`([^`]+)`/g)].map(([, path]) => path);
    let share = Infinity;
    try {
      share = changeOf(tokensOf(paths, commit), tokensOf(paths));
    } catch (error) {
      console.log(`${page}: ${commit} cannot be read: ${error.message.split('\n')[0]}`);
    }
    const isCurrent = share <= LARGEST_CHANGE;
    const percent = `${(share * 100).toFixed(1)} % of the code has changed since ${commit}`;
    console.log(`${isCurrent ? 'current' : 'EXPIRED'}  ${page}: ${command}: ${percent}`);
    if (!isCurrent) process.exitCode = 1;
  }
}
if (found === 0) throw new Error('no document names the commit of its figures');
