// Measures the built service beside others: CPU time of the process for each request, and requests per second, with 32
// keep-alive clients (64 for creates) on this machine. Every service is measured in turn, in short rounds, so that what
// else this machine does is the same for all; the medians are printed, and their ratios to the first one's.
// Usage: npm run measure [-- NAME...] [--rounds N] [--chart FILE], after npm run build. Names: see SERVICES; those of
// tools/peers need npm install --prefix tools/peers. Default: animal-store alone. --chart draws the medians as SVG.
// Others: --guard compares animal-store to node-http, whose ratios are committed in measure-guard.json, and fails when
// one grew by a quarter. --large asks for pages of 5 million animals. --start shows how long the service takes to be
// ready, and the memory that it has then.
// Clients are bare sockets, in a process of their own, so that as little as possible of what is measured is theirs.
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { main, startService } from './service.mjs';

const KEY = 'measuring-key-0123456789';
const SECONDS = 0.5; // of a round
const self = fileURLToPath(import.meta.url);
const peer = (name) => fileURLToPath(new URL(`./peers/${name}.mjs`, import.meta.url));

/** Programs, and what they run with. */
const SERVICES = {
  'animal-store': [main],
  'animal-store-on-node-http': [main, { ADAPTERS: peer('on-node-http') }],
  'animal-store-without-log': [main, { ADAPTERS: peer('without-log') }],
  fastify: [peer('fastify-service')],
  'bare-fastify': [peer('fastify-service'), { BARE: '1' }],
  express: [peer('express-service')],
  'nest-on-fastify': [peer('nest-service')],
  hono: [peer('hono-service')],
  'node-http': [peer('node-http-service')],
};

const message = (line, ...headers) =>
  [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${KEY}`, ...headers, '', ''].join('\r\n');
const NEW_PET = '{"name":"Bella","categoryId":7}';
const create = (...headers) =>
  message(
    'POST /v1/pets',
    'Content-Type: application/json',
    `Content-Length: ${NEW_PET.length}`,
    ...headers,
  ) + NEW_PET;

/** What each operation sends: a text, or what makes one of a number. Creates come first: the others need animals. */
const OPERATIONS = {
  create: { clients: 64, request: () => create() },
  'keyed create': { clients: 64, request: (number) => create(`Idempotency-Key: ${process.pid}-${number}`) },
  get: { clients: 32, request: () => message('GET /v1/pets/7') },
  'get, any': { clients: 32, request: (number) => message(`GET /v1/pets/${(number % 900) + 1}`) },
  'get, unchanged (304)': {
    clients: 32,
    request: (_, tag) => message('GET /v1/pets/7', `If-None-Match: ${tag}`),
  },
  'list of 20': { clients: 32, request: () => message('GET /v1/pets') },
  'list by status': { clients: 32, request: () => message('GET /v1/pets?status=available&limit=20') },
};
/** Of --large: animals in the store, and what is asked of them. Any: at random, which no cache knows. */
const MANY = 5_000_000;
const any = (number) => BigInt((number * 1_234_577) % (MANY - 100));
const PAGES = {
  'first page': { clients: 32, request: () => message('GET /v1/pets') },
  'last page': {
    clients: 32,
    request: () => message(`GET /v1/pets?after=${MANY - 25}`),
  },
  'any page': {
    clients: 32,
    request: (number) => message(`GET /v1/pets?after=${any(number)}`),
  },
  'any page by status': {
    clients: 32,
    request: (number) => message(`GET /v1/pets?status=sold&after=${any(number)}`),
  },
  'any animal': { clients: 32, request: (number) => message(`GET /v1/pets/${any(number) + 1n}`) },
};
const REQUESTS = { ...OPERATIONS, ...PAGES };
/** Those of the guard and of the chart. */
const CHOSEN = ['create', 'get', 'list of 20'];

let sent = 0;

/** One client: sends the next request whenever a response is complete. */
function client({ port, operation, tag }, deadline, counts) {
  const { request } = REQUESTS[operation];
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sentAt = 0;
    let missing = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(request((sent += 1), tag));
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', resolve);
    socket.on('data', (chunk) => {
      if (missing === 0) {
        const text = chunk.toString('latin1', 0, 3_000);
        if (!/^HTTP\/1\.1 (?:2|304)/.test(text)) counts.failed += 1;
        const [, length = 0] = (!text.startsWith('304', 9) && /content-length: (\d+)/i.exec(text)) || [];
        missing = text.indexOf('\r\n\r\n') + 4 + Number(length);
      }
      missing -= chunk.length;
      if (missing > 0) return;
      const now = performance.now();
      counts.latencies.push(now - sentAt);
      if (now < deadline) send();
      else socket.end();
    });
  });
}

async function load(order) {
  const counts = { latencies: [], failed: 0 };
  const began = performance.now();
  const deadline = began + SECONDS * 1000;
  const { clients } = REQUESTS[order.operation];
  await Promise.all(Array.from({ length: clients }, () => client(order, deadline, counts)));
  const sorted = counts.latencies.sort((one, other) => one - other);
  const seconds = (performance.now() - began) / 1000;
  return {
    requests: sorted.length,
    failed: counts.failed,
    seconds,
    p99: sorted[Math.floor(sorted.length * 0.99)],
  };
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** CPU time of all threads of a process, in microseconds (Linux). */
const cpuOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]) / 1000,
    0,
  );

/** Calls `report` with the medians of each operation, by service. `prepare` gets the file of each store before. */
async function measure(names, operations, rounds, report, prepare = async () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-measure-'));
  const loader = fork(self, ['--load']);
  const run = (order) =>
    new Promise((resolve) => {
      loader.once('message', resolve);
      loader.send(order);
    });
  const services = [];
  try {
    for (const name of names) {
      const [program, settings] = SERVICES[name];
      const file = join(folder, `${name}.db`);
      const store = { STORE_URL: `sqlite:${file}`, API_KEYS: KEY };
      await prepare(file);
      const service = await startService({ ...store, ...settings }, [process.execPath, program, 'serve']);
      service.ignoreLog();
      const order = { port: Number(service.url.port), operation: 'create' };
      services.push({ name, service, order });
      await run(order);
      const headers = { Authorization: `Bearer ${KEY}` };
      order.tag = (await fetch(new URL('/v1/pets/7', service.url), { headers })).headers.get('etag');
    }
    for (const operation of operations) {
      const results = new Map(names.map((name) => [name, []]));
      for (let round = -3; round < rounds; round += 1) {
        for (const { name, service, order } of services) {
          const before = cpuOf(service.pid);
          const { requests, failed, seconds, p99 } = await run({ ...order, operation });
          if (failed > 0) throw new Error(`${name}, ${operation}: ${failed} requests failed`);
          const cpu = (cpuOf(service.pid) - before) / requests;
          if (round >= 0) results.get(name).push({ cpu, rate: requests / seconds, p99 }); // else it warms up: a compiler needs a second
        }
      }
      const first = results.get(names[0]);
      report(
        operation,
        names.map((name) => {
          const all = results.get(name);
          return {
            name,
            cpu: median(all.map(({ cpu }) => cpu)),
            rate: median(all.map(({ rate }) => rate)),
            p99: median(all.map(({ p99 }) => p99)),
            ratio: median(all.map(({ cpu }, index) => cpu / first[index].cpu)),
          };
        }),
      );
    }
  } finally {
    loader.kill();
    for (const { service } of services) await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether no ratio to node-http is a quarter above the committed one. */
async function isAsFastAsCommitted() {
  const committed = JSON.parse(readFileSync(new URL('./measure-guard.json', import.meta.url), 'utf8'));
  let isFast = true;
  await measure(['node-http', 'animal-store'], CHOSEN, 6, (operation, [, { ratio }]) => {
    isFast &&= ratio <= committed[operation] * 1.25;
    console.log(
      `${operation}: ${ratio.toFixed(2)} times the CPU time of node-http (committed: ${committed[operation]})`,
    );
  });
  return isFast;
}

async function fill(file) {
  await (await startService({ STORE_URL: `sqlite:${file}`, API_KEYS: KEY })).stop();
  const database = new DatabaseSync(file);
  database.exec(`INSERT INTO pets (id, name, category_id, status)
    WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${MANY})
    SELECT id, 'Bella ' || id, id % 50, CASE id % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' ELSE 'sold' END
    FROM ids`);
  database.close();
}

/** Starts the service so many times, and prints the medians. */
async function measureStart(times) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-measure-'));
  const results = [];
  for (let time = 0; time < times; time += 1) {
    const began = performance.now();
    const service = await startService({ STORE_URL: `sqlite:${join(folder, 'animals.db')}`, API_KEYS: KEY });
    const milliseconds = performance.now() - began;
    await delay(2_000);
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'));
    results.push({ milliseconds, megabytes: kilobytes / 1024 });
    await service.stop();
  }
  rmSync(folder, { recursive: true });
  const of = (name) => Math.round(median(results.map((result) => result[name])));
  console.log(`ready after ${of('milliseconds')} ms, then ${of('megabytes')} MiB of memory (RSS)`);
}

/** Bars of CPU time, by operation and service, as SVG. */
function chart(rows) {
  const scale = 460 / Math.max(...rows.flatMap(({ results }) => results.map(({ cpu }) => cpu)));
  let y = 8;
  const parts = rows.flatMap(({ operation, results }) => {
    const title = `<text x="8" y="${(y += 20)}" font-weight="bold">${operation}</text>`;
    const bars = results.map(({ name, cpu }) => {
      y += 20;
      const width = (cpu * scale).toFixed(1);
      return (
        `<text x="190" y="${y}" text-anchor="end">${name}</text>` +
        `<rect x="198" y="${y - 12}" width="${width}" height="15" fill="${name === 'animal-store' ? '#2563eb' : '#94a3b8'}"/>` +
        `<text x="${(204 + cpu * scale).toFixed(1)}" y="${y}">${cpu.toFixed(0)}</text>`
      );
    });
    y += 8;
    return [title, ...bars];
  });
  const size = `width="720" height="${y + 8}" viewBox="0 0 720 ${y + 8}"`;
  const style = 'font-family="system-ui, sans-serif" font-size="13" fill="#334155"';
  const title = '<title>CPU time of a request, in microseconds</title>';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>\n${title}\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`;
}

if (process.argv[2] === '--load') {
  process.on('message', (order) => void load(order).then((result) => process.send(result)));
} else {
  const flag = { type: 'boolean', default: false };
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '12' },
      chart: { type: 'string' },
      guard: flag,
      large: flag,
      start: flag,
    },
  });
  const rounds = Number(values.rounds);
  const names = positionals.length > 0 ? positionals : ['animal-store'];
  const rows = [];
  const report = (operation, results) => {
    rows.push({ operation, results });
    for (const { name, cpu, rate, p99, ratio } of results)
      console.log(
        `${operation.padEnd(21)} ${name.padEnd(25)} ${cpu.toFixed(1).padStart(6)} us CPU  ${ratio.toFixed(2)} ` +
          `times ${names[0]}  ${Math.round(rate)}/s  p99 ${p99.toFixed(1)} ms`,
      );
  };
  if (values.guard) {
    // A busy machine gets three tries: what became slower fails all of them.
    if (!(await isAsFastAsCommitted()) && !(await isAsFastAsCommitted()) && !(await isAsFastAsCommitted())) {
      console.error('The service became slower. If that is worth it, commit the new ratios and say why.');
      process.exitCode = 1;
    }
  } else if (values.large) await measure(['animal-store'], Object.keys(PAGES), rounds, report, fill);
  else if (values.start) await measureStart(rounds);
  else await measure(names, Object.keys(OPERATIONS), rounds, report);
  if (values.chart)
    writeFileSync(values.chart, chart(rows.filter(({ operation }) => CHOSEN.includes(operation))));
}
