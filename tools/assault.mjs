// Attacks the built service on 127.0.0.1: npm run assault -- NAME [--short] [--seed N]
// NAME is a module of tools/assault; the README there says what each needs. Every attack ends by itself. Exits 1 if a
// figure exceeds its budget. Exits 0 and says so if something is missing. `--seed` repeats the random choices.
import { createHash, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
let broken = 0;
/** Prints a figure, and whether it is within its budget. */
function show(what, figure, budget = 0) {
  const holds = typeof figure === 'number' && figure <= budget;
  if (!holds) broken += 1;
  const shown = typeof figure === 'number' ? Math.round(figure) : figure;
  console.log(`${holds ? 'holds ' : 'BROKEN'}  ${what}: ${shown} (at most ${budget})`);
}

let drawn = 0;
/** A number from 0 to below 1. Equal seeds make equal numbers. */
function random() {
  if (drawn === 0) console.log(`seed ${values.seed}`);
  drawn += 1;
  return createHash('sha256').update(`${values.seed} ${drawn}`).digest().readUInt32BE() / 2 ** 32;
}

const { attack } = await import(`./assault/${positionals[0]}.mjs`);
const missing = await attack({ ...values, show, random });
if (missing !== undefined) console.log(`skipped: it needs ${missing}`);
process.exitCode = broken > 0 ? 1 : 0;
