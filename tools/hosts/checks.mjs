// What the animal store must hold in every host. Each check resolves to a summary, or to undefined if it does not apply
// to the example; it rejects if the host breaks it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fetchSubjects, httpContract, runContract, serviceSubjects } from 'animal-store/contract';
import { PET, leave, send } from './client.mjs';
import { FAULT } from './start-host.mjs';

const EXCEPTIONS = JSON.parse(await readFile(new URL('./exceptions.json', import.meta.url)));
const SAMPLED = 'every response';
/** How many exceptions run at the same time. */
const LANES = 24;
/** How many failed cases are shown. */
const SHOWN = 20;
const GUEST = 'a guest has no bound of its own';

/** Starts an example in a setup, passes it to `check`, and stops it. */
async function using({ start, paths }, setup, check) {
  const host = await start({ path: paths[0], ...setup });
  try {
    return await check({ send, ...host, pets: `${host.url}/pets` });
  } finally {
    await host.stop();
  }
}

const expectStatus = async (status, response) => {
  const { status: got, body } = await response;
  assert.equal(got, status, body);
};

/** 200 requests at once, 10 one after another, and a create: nothing must have been used up. */
async function serves({ send, pets, inProgress }) {
  await Promise.all(Array.from({ length: 200 }, () => expectStatus(200, send(pets))));
  for (let attempt = 0; attempt < 10; attempt += 1) await expectStatus(200, send(pets));
  await expectStatus(201, send(pets, { method: 'POST', body: PET }));
  if (inProgress === undefined) return;
  for (let tries = 0; inProgress() > 0 && tries < 400; tries += 1) await delay(50);
  assert.equal(inProgress(), 0, 'requests of clients that have left are still in progress');
}

/** Middleware of Koa that changes the response to a fault. */
async function answerOurselves(context, next) {
  await next();
  if (context.status === 500) context.body = 'ours';
}

/** Waits until `faults` has one, and then whether another comes. */
async function expectOne(faults, message = FAULT) {
  for (let tries = 0; faults.length === 0 && tries < 400; tries += 1) await delay(50);
  await delay(50);
  assert.equal(
    faults.length,
    1,
    `the fault was heard ${faults.length} times: ${faults.join('; ')}`,
  );
  assert.match(String(faults[0]), new RegExp(message));
}

/** The cases of groups of exceptions: those that fail, or the unsteady ones, which are not run. */
const casesOf = (groups, areUnsteady) =>
  groups
    .filter((group) => (EXCEPTIONS[group].unsteady ?? false) === areUnsteady)
    .flatMap((group) => EXCEPTIONS[group].cases);

const run = (open, only) => runContract(httpContract, open, { only });

export const CHECKS = {
  async contract({ start, contractPath = '', exceptions, fetches }) {
    const listed = new Set(casesOf(exceptions, false));
    const unsteady = new Set(casesOf(exceptions, true));
    const quiet = { path: contractPath, step: 'quiet', options: { report: () => {} } };
    const guests = fetches
      ? fetchSubjects(fetches)
      : serviceSubjects((situation) => start({ situation, ...quiet }));
    const unbound = serviceSubjects(async () => GUEST);
    const over = (situation) => (situation === 'busy' ? unbound : guests)(situation);
    // Among the samples for every response are messages that only a server of the animal store answers.
    const apart = async (situation) => ({ ...(await over(situation)), overSocket: false });
    // Each exception has a host of its own, beside the others: many wait for seconds, and what they break must not fail
    // other cases.
    const queue = [...listed];
    const results = [];
    const runListed = async () => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        results.push(...(await run(over, (name, topic) => topic !== SAMPLED && name === next)));
      }
    };
    const [sampled, others] = await Promise.all([
      run(apart, (_name, topic) => topic === SAMPLED),
      run(over, (name, topic) => topic !== SAMPLED && !listed.has(name) && !unsteady.has(name)),
      ...Array.from({ length: LANES }, runListed),
    ]);
    results.push(...sampled, ...others);
    const problems = [];
    let passed = 0;
    let known = 0;
    for (const { name, outcome, error } of results) {
      if (outcome === 'passed') passed += 1;
      if (outcome === 'failed' && listed.has(name)) known += 1;
      else if (outcome === 'failed') problems.push(`${name}: ${firstLine(error)}`);
      else if (listed.delete(name) && outcome === 'passed')
        problems.push(`${name}: is listed, but passes`);
      listed.delete(name);
    }
    for (const name of listed) problems.push(`${name}: is listed, but no case`);
    if (problems.length > 0) {
      const more = problems.length > SHOWN ? `\n  and ${problems.length - SHOWN} more` : '';
      throw new Error(
        `${problems.length} cases\n  ${problems.slice(0, SHOWN).join('\n  ')}${more}`,
      );
    }
    const count = httpContract.cases.length;
    const skipped = count - passed - known;
    return `${passed} of ${count} cases; exceptions listed: ${known}; skipped: ${skipped}`;
  },

  async impatience(example) {
    if (example.fetches) return undefined;
    return using(example, { step: 'slow' }, async (host) => {
      await Promise.all(Array.from({ length: 400 }, () => leave(host.pets)));
      await serves(host);
      await Promise.all(Array.from({ length: 300 }, () => leave(host.pets, PET)));
      await serves(host);
      assert.deepEqual(host.faults, [], 'a client that leaves is no fault');
      return '400 GETs and 300 POSTs left behind, then all served';
    });
  },

  async 'body read before'({ bodies, ...example }) {
    if (bodies === undefined) return undefined;
    for (const [step, isKept] of Object.entries(bodies)) {
      await using(example, { step }, async ({ send, pets, faults }) => {
        const began = performance.now();
        const { status, headers, body } = await send(pets, { method: 'POST', body: PET });
        if (isKept === true) {
          assert.equal(status, 201, `${step}: ${body}`);
          assert.match(body, /"categoryId":9223372036854775807,/);
          assert.equal((await send(new URL(headers.location, pets))).body, body);
          return;
        }
        // Sooner than any deadline, on a busy machine, too.
        assert.ok(performance.now() - began < 4000, 'the refusal took more than four seconds');
        assert.equal(status, 500, `${step}: ${body}`);
        if (isKept === 'host') return; // it answers by itself
        const { code, message } = JSON.parse(body);
        assert.equal(code, 'internal_error');
        assert.match(message, /read/, 'the message does not say what to do');
        await expectOne(faults, 'read');
      });
    }
    const entries = Object.entries(bodies);
    return entries.map(([step, isKept]) => `${step}: ${isKept === true ? 201 : 500}`).join(', ');
  },

  async fault({ hears = 'log', ...example }) {
    const setup = { fails: true };
    const heard = [];
    if (hears === 'report') setup.options = { report: (error) => heard.push(error.message) };
    if (hears === 'koa') {
      const listen = ({ app }, next) => {
        app.removeAllListeners('error').on('error', (error) => heard.push(error.message));
        return next();
      };
      setup.options = { before: [listen] };
    }
    await using(example, setup, async ({ send, pets, faults }) => {
      const { status, body } = await send(pets);
      assert.equal(status, 500, body);
      assert.equal(JSON.parse(body).code, hears === 'report' ? 'fault' : 'internal_error');
      assert.ok(!body.includes(FAULT), 'the response reveals the fault');
      await expectOne(hears === 'log' ? faults : heard);
    });
    if (hears !== 'koa')
      return `500, heard once by ${hears === 'log' ? 'the log' : 'the error middleware'}`;
    heard.length = 0;
    setup.options.before.push(answerOurselves);
    await using(example, setup, async ({ send, pets }) => {
      assert.equal((await send(pets)).body, 'ours');
      await expectOne(heard);
    });
    return "500, heard once by app.on('error'), also where middleware changes the response";
  },

  /** As a newcomer starts it: with start.mjs, or with its own configuration. */
  async starter({ startExample }) {
    if (startExample === undefined) return undefined;
    const { url, stop, send: sendHere = send } = await startExample();
    try {
      await expectStatus(200, sendHere(url));
      return 'starts, and lists animals';
    } finally {
      await stop();
    }
  },

  async links({ paths, ...example }) {
    for (const path of paths) {
      await using({ ...example, paths: [path] }, {}, async ({ send, pets }) => {
        const created = [];
        for (let animal = 0; animal < 3; animal += 1) {
          const { headers, body } = await send(pets, { method: 'POST', body: PET });
          const { status, body: again, headers: got } = await send(new URL(headers.location, pets));
          assert.equal(status, 200, `Location is ${headers.location}`);
          assert.equal(again, body);
          await expectStatus(200, send(new URL(targetOf(got.link), pets)));
          created.push(body);
        }
        const listed = [];
        for (let url = `${pets}?limit=1`; url;) {
          const { status, headers, body } = await send(url);
          assert.equal(status, 200, `Link is ${url}`);
          listed.push(body.slice(1, -1));
          url = headers.link && new URL(targetOf(headers.link), pets);
        }
        assert.deepEqual(listed, created);
      });
    }
    return `Location and Link work below ${paths.map((path) => path || '/').join(', ')}`;
  },
};

/** The message of an assertion, in one line. */
export const firstLine = ({ message }) =>
  message
    .trim()
    .split(/\s*\n\s*/)
    .slice(0, 4)
    .join(' ');

const targetOf = (link) => /^<([^>]*)>/.exec(link)?.[1];
