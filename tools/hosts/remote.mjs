// Runs an example on another runtime. Usage: RUNTIME remote.mjs EXAMPLE SETUP, which is JSON. Prints its port and keys,
// then a line for each fault.
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { portOf, wire } from './start-host.mjs';

const [example, json] = process.argv.slice(2);
const { step, ...setup } = JSON.parse(json);
const STEPS = {
  slow: () => delay(20),
  parsed: (request) => request.method === 'POST' && request.json(),
};

const { http, keys, faults } = await wire(setup);
if (faults) faults.push = (fault) => console.log(`fault ${fault}`);
const { listen } = await import(example);
const server = listen(http, { before: [STEPS[step] ?? []].flat() });
console.log(JSON.stringify({ port: portOf(server), keys }));
