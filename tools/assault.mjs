// Attacks the built service on 127.0.0.1 and judges how it holds: npm run assault -- NAME [--short]. Names are the
// modules of tools/assault, whose README says what each shows. Every attack is bounded, and ends by itself. Exits 1
// if a promise broke, and 0 with a line if a program that it needs is missing here.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false } },
});
const [name = ''] = positionals;
const module = new URL(`./assault/${name}.mjs`, import.meta.url);
if (!/^\w+$/.test(name) || !existsSync(module)) {
  console.error(`no attack ${name}: see tools/assault/README.md`);
  process.exit(2);
}

/** Prints one figure, and remembers whether it is within its budget. `is` compares: 'at most', 'at least' or 'equals'. */
const broken = [];
function show(what, figure, is, budget, unit = '') {
  const holds =
    is === 'at most' ? figure <= budget : is === 'at least' ? figure >= budget : figure === budget;
  if (!holds) broken.push(what);
  console.log(`${holds ? 'holds ' : 'BROKEN'}  ${what}: ${figure}${unit} (${is} ${budget}${unit})`);
}

const { attack } = await import(module.href);
const missing = await attack({ short: values.short, show });
if (missing !== undefined) console.log(`not run: ${missing}`);
process.exitCode = broken.length > 0 ? 1 : 0;
