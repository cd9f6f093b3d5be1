// Attacks the built service on 127.0.0.1 and judges how it holds: npm run assault -- NAME [--short] [--seed N]. Names
// are the modules of tools/assault; its README says what each needs. Every attack ends by itself. Exits 1 if a budget is
// exceeded. Exits 0 and says so if something that it needs is missing. `--seed` repeats its random choices.
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
/** Prints a figure, and whether it is a number that is not above its budget. */
function show(what, figure, budget = 0, unit = '') {
  const holds = typeof figure === 'number' && Math.round(figure) <= budget;
  if (!holds) broken += 1;
  const found = typeof figure === 'number' ? Math.round(figure) : figure;
  console.log(
    `${holds ? 'holds ' : 'BROKEN'}  ${what}: ${found}${unit} (at most ${budget}${unit})`,
  );
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
