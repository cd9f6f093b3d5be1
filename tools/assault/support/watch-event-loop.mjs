// Imported by the service, it measures the event loop. To any message it replies with the longest stall in milliseconds
// and the bytes that are left after garbage collection (--expose-gc), and starts again.
import process from 'node:process';
import { stopwatch } from './stopwatch.mjs';

const RESOLUTION = 5; // milliseconds
let longest = 0;
let sinceTurn = stopwatch('self');
const turn = () => {
  longest = Math.max(longest, sinceTurn() - RESOLUTION);
  sinceTurn = stopwatch('self');
};
setInterval(turn, RESOLUTION).unref();
process.on('message', () => {
  for (let times = 0; times < 2; times += 1) globalThis.gc(); // buffers are freed after the first
  const { heapUsed, external } = process.memoryUsage();
  process.send({ stall: longest, memory: heapUsed + external });
  longest = 0;
  sinceTurn = stopwatch('self');
});
process.channel.unref();
