// What the attacks of `hostile` do. Each gets `own` and `other`, clients with two API keys; `open(texts)`, which opens a
// connection for each text and sends it; and `wait(SHORT, LONG)`, in milliseconds.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as requests from './hostile-requests.mjs';

/** Resolves when the socket is open, or has failed. */
const settled = (socket) => new Promise((done) => socket.once('connect', done).once('close', done));

/** Opens a socket for each text, sends it, and never reads. Resolves when all are open, or after 5 s. */
export async function openAll(port, texts) {
  const sockets = texts.map((text) => {
    const socket = connect(port, '127.0.0.1')
      .pause()
      .on('error', () => {});
    socket.write(text);
    return socket;
  });
  await Promise.race([Promise.all(sockets.map(settled)), delay(5_000, undefined, { ref: false })]);
  return sockets;
}

const times = (count, text) => Array.from({ length: count }, () => text);

/** Sends a character on each socket every `pause` milliseconds. `clearInterval` ends it. */
const drip = (sockets, character, pause) =>
  setInterval(() => sockets.forEach((socket) => socket.writable && socket.write(character)), pause);

/** 0 if a call of the client succeeds within 10 s, else 1. */
const failureOf = (call) =>
  call({ signal: AbortSignal.timeout(10_000) }).then(
    () => 0,
    () => 1,
  );

export const pipeline =
  (count, whenShort = 2_000, whenLong = 10_000) =>
  async ({ open, wait }) => {
    await open(times(count, requests.FLOOD));
    await wait(whenShort, whenLong);
  };

export async function requestLongestPages({ open, wait, own, other }) {
  const animal = { name: '🐈'.repeat(1_000), categoryId: 1 };
  for (let count = 0; count < 100; count += 1) await own.createPet(animal);
  for (let count = 0; count < 300; count += 1) await own.listPets({ limit: 100 }); // warms up
  await open(times(200, requests.LONGEST_PAGE.repeat(10)));
  await wait(1_000);
  return failureOf((options) => other.listPets({ limit: 1 }, options));
}

export async function sendBodiesSlowly({ open, wait, short, other }) {
  const dripping = drip(await open(times(300, requests.post('Content-Length: 2000'))), '{', 100);
  let failed = 0;
  for (let count = 0; count < (short ? 20 : 100); count += 1) {
    failed += await failureOf((options) =>
      other.createPet({ name: 'Bella', categoryId: 1 }, options),
    );
    await wait(20);
  }
  clearInterval(dripping);
  return failed;
}

export async function sendEndlessHeaders({ open, wait }) {
  const sockets = await open(times(2_500, 'GET / HTTP/1.1\r\nX: y'));
  const dripping = drip(sockets, 'y', 500);
  await wait(1_500, 12_000);
  clearInterval(dripping);
}

export async function stayIdle({ open, wait }) {
  await open(times(2_500, requests.head('GET /livez')));
  await wait(1_000, 5_000);
}

/** A regular expression can take a minute to read what takes a microsecond to send. */
export async function repeatSeparators({ open, wait }) {
  await open(requests.repeatedSeparators());
  await wait(2_000);
}

/** Proxies and servers could disagree where these requests end. Each hides a create after it. */
export async function hideCreates({ open, wait, other }) {
  await open(requests.hiddenCreates());
  await wait(1_000);
  let executed = 0;
  for await (const { name } of other.allPets()) executed += Number(name === requests.HIDDEN);
  return executed;
}

/** Requests the longest page, or a part of one, and aborts after 5 ms, with twelve clients. */
export async function abortRequests({ port, short, own }) {
  for (let count = 0; count < 100; count += 1)
    await own.createPet({ name: 'Bella', categoryId: 1 });
  const end = performance.now() + (short ? 3_000 : 15_000);
  const client = async (text) => {
    while (performance.now() < end) {
      const [socket] = await openAll(port, [text]);
      await delay(5);
      socket.resetAndDestroy();
    }
  };
  const part = requests.LONGEST_PAGE.slice(0, 40);
  const texts = [...times(2, part), ...times(10, requests.LONGEST_PAGE.repeat(30))];
  await Promise.all(texts.map(client));
}
