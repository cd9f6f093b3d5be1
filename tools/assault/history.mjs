// Two services on one store that dies again and again, under clients that create, change, remove, read and list 200
// animals at a time. Then each animal's recorded calls must have an order in which every answer is right.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ReplicaSet } from '../../build/test/adapters/mongodb/mongod.js';
import { AnimalHistory } from './animal-history.mjs';
import { inFolder, mongodPath, send, serve } from './keyed-creates.mjs';

const CLIENTS = 16;
const SETTINGS = { EXPERIMENTAL: 'changePet,removePet' };

export async function attack({ short, show, random }) {
  const seconds = short ? 10 : 120;
  await inFolder(async (folder) => {
    const storeUrl = `sqlite:${join(folder, 'animals.db')}`;
    const kill = async (services, count) => {
      await services[count % 2].end('SIGKILL');
      services[count % 2] = await serve(storeUrl, { settings: SETTINGS });
    };
    await record('SQLite', 'kills', storeUrl, kill, { seconds, show, random });
  });
  const binary = await mongodPath();
  if (binary === undefined) return 'on MongoDB: needs mongod';
  const set = await ReplicaSet.start(binary);
  try {
    const stepDown = async () => {
      await set.stepDown();
      await set.untilWhole();
    };
    await record('MongoDB', 'step-downs', set.uri('animals'), stepDown, { seconds, show, random });
  } finally {
    await set.remove();
  }
}

async function record(store, faultName, storeUrl, fault, { seconds, show, random }) {
  const services = [];
  try {
    for (let each = 0; each < 2; each += 1)
      services.push(await serve(storeUrl, { settings: SETTINGS }));
    const history = new AnimalHistory(
      (at, target, request) => send(services[at].url, target, request),
      delay,
    );
    const until = performance.now() + seconds * 1000;
    const clients = Array.from({ length: CLIENTS }, (_, number) =>
      history.client(random(`client ${number} on ${store}`)),
    );
    const pauses = random(`faults on ${store}`);
    let faults = 0;
    for (; performance.now() < until; faults += 1) {
      await delay(500 + pauses() * 2500);
      await fault(services, faults);
    }
    history.over = true;
    await Promise.all(clients);
    await history.end();
    report(store, `${faults} ${faultName}`, history, show);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

function report(store, faults, history, show) {
  const { animals, counts } = history;
  const began = performance.now();
  const { impossible, visited } = history.judge();
  console.log(
    `${store}: ${faults}, ${animals.size} animals, ${counts.calls} calls, ${counts.pages} of them pages of lists, ` +
      `${counts.unanswered} unanswered; ${visited} states visited in ${Math.round(performance.now() - began)} ms`,
  );
  for (const { name, calls, call } of impossible.slice(0, 3)) {
    console.log(`no order of the calls on ${name} explains the last of these answers:`);
    const before = calls.filter(({ kind, begin }) => kind !== 'list' && begin < call.begin);
    console.table([...before.sort((one, other) => one.begin - other.begin).slice(-15), call]);
  }
  for (const each of history.faults.slice(0, 5)) console.log(each);
  show(`${store}: animals whose calls have no order`, impossible.length, 'equals', 0);
  show(`${store}: answers that are wrong in any order`, history.faults.length, 'equals', 0);
}
