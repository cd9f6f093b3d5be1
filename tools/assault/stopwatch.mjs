import { readFileSync } from 'node:fs';
import process from 'node:process';

/** How long the main threads of these processes waited for a processor, in milliseconds (Linux). 0 if one has ended. */
const waited = (pids) => {
  try {
    return pids.reduce(
      (sum, pid) => sum + readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1] / 1e6,
      0,
    );
  } catch {
    return 0;
  }
};

/**
 * Starts to measure. The function that it returns gives the milliseconds since, without those in which one of the
 * processes waited for a processor: a busy machine must not look like a slow service.
 */
export function stopwatch(...pids) {
  const [began, before] = [performance.now(), waited(pids)];
  return () => performance.now() - began - (waited(pids) - before);
}

// Imported by the service, it measures the event loop: at SIGUSR2 it writes the longest stall to stdout, with the bytes
// that are left after garbage collection (--expose-gc), and begins anew.
if (process.env.WATCH_EVENT_LOOP === '1') {
  const RESOLUTION = 5; // milliseconds
  let longest = 0;
  let sinceTurn = stopwatch('self');
  const turn = () => {
    longest = Math.max(longest, sinceTurn() - RESOLUTION);
    sinceTurn = stopwatch('self');
  };
  setInterval(turn, RESOLUTION).unref();
  process.on('SIGUSR2', () => {
    for (let times = 0; times < 2; times += 1) globalThis.gc(); // buffers are freed after the first
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ stall: longest, memory: heapUsed + external })}\n`);
    longest = 0;
    sinceTurn = stopwatch('self');
  });
}
