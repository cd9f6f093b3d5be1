import { readFileSync } from 'node:fs';
import process from 'node:process';

/** How long the main threads of these processes waited for a processor, in milliseconds (Linux). 0 if one has ended. */
function waited(pids) {
  let sum = 0;
  try {
    for (const pid of pids)
      sum += readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1] / 1e6;
  } catch {
    return 0;
  }
  return sum;
}

/**
 * Starts to measure. The function that it returns gives the milliseconds since, without those in which one of the
 * processes waited for a processor: a busy machine must not look like a slow service.
 */
export function stopwatch(...pids) {
  const [began, before] = [performance.now(), waited(pids)];
  return () => performance.now() - began - (waited(pids) - before);
}

// Imported by the service, it measures the event loop. To any message it replies with the longest stall in milliseconds
// and the bytes that are left after garbage collection (--expose-gc), and begins anew.
if (process.env.WATCH_EVENT_LOOP === '1') {
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
}
