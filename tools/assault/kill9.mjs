// Kills the service without warning, again and again, under 64 writers that retry with idempotency keys.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../temporary-folder.mjs';
import { Ledger, serve, write } from './support/sqlite-creates.mjs';

const WRITERS = 64;

export async function attack({ short, show, random }) {
  using folder = temporaryFolder();
  const file = join(folder.path, 'animals.db');
  const kills = short ? 3 : 20;
  const ledger = new Ledger();
  let service = await serve(file);
  let isOver = false;
  const writing = write(
    WRITERS,
    () => (isOver ? undefined : randomUUID()),
    () => service,
    (name, body) => ledger.acknowledge(name, body),
  );
  for (let kill = 0; kill < kills; kill += 1) {
    await delay(300 + random() * 700);
    await service.end('SIGKILL');
    service = await serve(file);
  }
  await delay(300);
  isOver = true;
  await writing;
  const differing = await ledger.replay(service);
  const [code] = await service.stop();
  const { lost, twice, others } = await ledger.compare(file);
  console.log(`${kills} kills, ${ledger.size} creates acknowledged`);
  show('acknowledged animals lost', lost);
  show('animals stored twice, or not claimed once', twice);
  show('animals that no writer was told of', others);
  show('replays that differ from the first response', differing);
  show('exit code of the last stop', code);
}
