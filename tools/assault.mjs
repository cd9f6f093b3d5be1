// Attacks the built service on 127.0.0.1 and judges how it holds: npm run assault -- NAME [--short] [--seed N]. Names
// are the modules of tools/assault; docs/reliability.md says what each shows. Every attack is bounded, and ends by
// itself. One that chooses at random prints its seed; `--seed` repeats its choices. Exits 1 if a promise broke, and 0
// with a line if a program that it needs is missing here.
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { randomNumbers } from './assault/random-numbers.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string' },
    listener: { type: 'string', default: 'gate' },
  },
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

const seed = values.seed ?? String(randomInt(2 ** 31));
let isPrinted = false;
/** The source of random numbers of this name. */
function random(source) {
  if (!isPrinted) console.log(`seed ${seed}`);
  isPrinted = true;
  return randomNumbers(seed, source);
}

const { attack } = await import(module.href);
const missing = await attack({ short: values.short, listener: values.listener, show, random });
if (missing !== undefined) console.log(`not run: ${missing}`);
process.exitCode = broken.length > 0 ? 1 : 0;
