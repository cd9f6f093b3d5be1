// Kills the service without warning, again and again, under 64 writers that retry with idempotency keys.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../build/src/adapters/sqlite/index.js';
import { Writers, inFolder, serve } from './keyed-creates.mjs';

const WRITERS = 64;

export const attack = ({ short, show, random }) =>
  inFolder(async (folder) => {
    const file = join(folder, 'animals.db');
    const kills = short ? 3 : 20;
    let service = await serve(`sqlite:${file}`);
    const pauses = random('pauses');
    const writers = new Writers(WRITERS, () => service.url, 100);
    const { ledger } = writers;
    let slowest = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(300 + pauses() * 700);
      await service.end('SIGKILL');
      const began = performance.now();
      service = await serve(`sqlite:${file}`);
      slowest = Math.max(slowest, performance.now() - began);
    }
    await delay(300);
    await writers.end();
    const differing = await ledger.replay(service.url);
    const [code] = await service.stop();
    console.log(
      `${kills} kills, ${ledger.size} creates acknowledged, ${writers.retries} retries, slowest start ${Math.round(slowest)} ms`,
    );
    const { others } = await ledger.judge(show, openSqliteStore(file));
    show('animals that no writer was told of', others, 'equals', 0);
    show('replays that differ from the first response', differing, 'equals', 0);
    show('exit code of the last stop', code, 'equals', 0);
  });
