// More requests than the service can answer, in an open loop: they come at their times, whether or not earlier ones were
// answered. First the capacity is measured, then one key sends 1, 2 and 4 times as much, its clients giving up after a
// second; a second key sends a tenth of the capacity at the same time. Budgets follow from the capacity before and
// after, so that they hold on slow machines, too. A service that others, or the clients, keep from its processor is not
// judged: its clients give up whatever it does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLoad } from '../load.mjs';
import { startService } from '../service.mjs';
import { inFolder } from './keyed-creates.mjs';

const KEYS = ['greedy-key-of-the-attack', 'modest-key-of-the-attack'];
const PATIENCE = 1_000; // of a client, in milliseconds
/** Clients that show the capacity: many, since many connections cost the service and its clients more each. */
const CLIENTS = 1_000;

/**
 * The least that is served, in percent of the capacity. Each client that gives up costs a connection that is accepted for
 * nothing, and how many do so is chance: 56 to 120 % in 24 runs at twice the capacity.
 */
const LEAST_SERVED = 50;
/** The longest that the second key may wait at the 99th percentile: for so many pages of 100. */
const PAGES_BEFORE = 1_000;
/** The largest part of its time that a service may wait for a processor and still be judged. */
const MOST_KEPT = 0.2;

/** How long the main thread of a process ran, and how long it waited for a processor, in nanoseconds (Linux). */
const processorTimes = (pid) => readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ').map(Number);

const page = (key) => `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;

export const attack = ({ short, show }) =>
  inFolder(async (folder) => {
    const settings = { API_KEYS: KEYS.join(','), STORE_URL: `sqlite:${join(folder, 'animals.db')}` };
    const service = await startService(settings);
    service.ignoreLog();
    const seconds = short ? 2 : 8;
    const loads = KEYS.map(() => startLoad(service.url.port));
    const run = async (index, load) => {
      const order = { requests: [page(KEYS[index])], patience: PATIENCE, seconds, ...load };
      const { status, ...result } = await loads[index].run(order);
      const { 200: served = 0, ...refused } = status;
      return { ...result, served, refused: Object.values(refused).reduce((sum, count) => sum + count, 0) };
    };
    try {
      for (let count = 0; count < 100; count += 1) {
        await fetch(`${service.url}/pets`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${KEYS[0]}`, 'Content-Type': 'application/json' },
          body: '{"name":"Bella","categoryId":1}',
        });
      }
      await Promise.all(KEYS.map((_, index) => run(index, { clients: CLIENTS }))); // to warm up
      const measureCapacity = async () => (await run(0, { clients: CLIENTS })).served / seconds;
      let capacity = await measureCapacity();
      for (const times of [1, 2, 4]) {
        console.log(
          `capacity: ${Math.round(capacity)} pages of 100 a second, from ${CLIENTS} clients in turn`,
        );
        const rates = [capacity * times, capacity / 10];
        const before = processorTimes(service.pid);
        const [greedy, modest] = await Promise.all(rates.map((rate, index) => run(index, { rate })));
        const [ran, waited] = processorTimes(service.pid).map((time, index) => time - before[index]);
        const name = `${times} times the capacity`;
        const previous = capacity;
        capacity = await measureCapacity(); // anew: a shared machine changes
        const usual = (previous + capacity) / 2;
        const goodput = Math.round((100 * (greedy.served + modest.served)) / seconds / usual);
        console.log(
          `        ${name}: sent ${Math.round(greedy.sent / seconds)}/s, refused ${greedy.refused}, given up ${greedy.late}`,
        );
        const kept = waited / (ran + waited);
        console.log(`        waited for a processor for ${Math.round(kept * 100)} % of its time`);
        if (kept > MOST_KEPT) {
          console.log('not judged: others had the processor');
          continue;
        }
        if (times > 1) {
          show(`${name}: served, of the capacity`, goodput, 'at least', LEAST_SERVED, ' %');
          show(`${name}: 503 or 429`, greedy.refused, 'at least', 1);
        }
        show(`${name}: p99 of what is served`, Math.round(greedy.p99), 'at most', 1_000, ' ms');
        const longest = Math.round((PAGES_BEFORE * 1000) / usual);
        show(`${name}: p99 of the second key`, Math.round(modest.p99), 'at most', longest, ' ms');
        show(`${name}: refusals and give-ups of the second key`, modest.refused + modest.late, 'equals', 0);
      }
    } finally {
      for (const load of loads) load.stop();
      await service.stop();
    }
  });
