// Kills the service without warning, again and again, under 64 writers that retry with idempotency keys.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compare, create, inFolder, serve } from './sqlite-service.mjs';

const WRITERS = 64;

export const attack = ({ short, show }) =>
  inFolder(async (folder) => {
    const file = join(folder, 'animals.db');
    const kills = short ? 3 : 20;
    let service = await serve(file);
    const stop = new AbortController();
    let retries = 0;
    const acknowledged = new Map(); // from names to ids
    const bodies = new Map();

    async function write(writer) {
      for (let number = 0; !stop.signal.aborted; number += 1) {
        const name = `writer-${writer}-animal-${number}`;
        for (;;) {
          const answer = await create(service.url, name).catch(() => undefined);
          if (answer?.status === 201) {
            acknowledged.set(name, String(JSON.parse(answer.body).id));
            bodies.set(name, answer.body);
            break;
          }
          retries += 1;
          await delay(100);
        }
      }
    }

    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    let slowest = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(300 + Math.random() * 700);
      await service.end('SIGKILL');
      const began = performance.now();
      const next = await serve(file);
      if (next.url === undefined) throw new Error(`it does not start any more: ${next.lines.join('\n')}`);
      service = next;
      slowest = Math.max(slowest, performance.now() - began);
    }
    await delay(300);
    stop.abort();
    await Promise.all(writers); // each retries its last create until it is acknowledged

    let different = 0;
    const names = bodies.keys();
    const replay = async () => {
      for (const name of names) {
        const { status, headers, body } = await create(service.url, name);
        const isReplay = status === 201 && headers['idempotency-replayed'] === 'true';
        if (!isReplay || body !== bodies.get(name)) different += 1;
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, replay));
    const code = await service.end('SIGTERM');
    const { lost, twice, others } = await compare(file, acknowledged);

    console.log(
      `${kills} kills, ${acknowledged.size} creates acknowledged, ${retries} retries, slowest start ${Math.round(slowest)} ms`,
    );
    show('acknowledged animals lost', lost, 'equals', 0);
    show('animals stored twice', twice, 'equals', 0);
    show('animals that no writer was told of', others, 'equals', 0);
    show('replays that differ from the first response', different, 'equals', 0);
    show('exit code of the last stop', code, 'equals', 0);
  });
