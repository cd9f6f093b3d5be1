import { readFileSync } from 'node:fs';

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
  return () => performance.now() - began - Math.max(0, waited(pids) - before);
}
