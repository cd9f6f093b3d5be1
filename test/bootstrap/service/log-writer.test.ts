import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LogWriter } from '../../../src/bootstrap/service/log-writer.js';
import { cleanUp, temporaryFolder } from '../../service/running-service.js';

const lines = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify({ index, msg: 'é'.repeat(500) })}\n`);

const readers: number[] = [];

/** Whether enough was read, by the last characters and the number of all: to look at a text that grows is slow. */
type IsEnough = (end: string, length: number) => boolean;

/** A pipe whose read end `closeReaders` closes: then a blocked write fails, in place of holding the process. */
async function pipe(flags: number): Promise<{ fd: number; read: (isEnough: IsEnough) => Promise<string> }> {
  const path = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  readers.push(reader);
  const fd = openSync(path, constants.O_WRONLY | flags);
  const chunk = Buffer.alloc(64 * 1024);
  let [text, end] = ['', ''];
  const read = async (isEnough: IsEnough): Promise<string> => {
    while (!isEnough(end, text.length))
      try {
        const part = chunk.toString('latin1', 0, readSync(reader, chunk));
        text += part;
        end = (end + part).slice(-20);
      } catch (error) {
        expect(error).to.include({ code: 'EAGAIN' });
        await delay(1);
      }
    return Buffer.from(text, 'latin1').toString();
  };
  return { fd, read };
}

function closeReaders(): void {
  for (const reader of readers.splice(0)) closeSync(reader);
}

/** Whether the first line of a log is in its file after 80 ms. */
async function isAtOnce(path: string): Promise<boolean> {
  const fd = openSync(path, 'w');
  new LogWriter(fd).write('line\n');
  await delay(80);
  const text = readFileSync(path, 'utf8');
  while (readFileSync(path, 'utf8') === '') await delay(10);
  closeSync(fd);
  return text === 'line\n';
}

describe('The log', () => {
  afterEach(closeReaders);
  afterEach(cleanUp);

  it('is written in order, many lines together', async () => {
    const path = join(await temporaryFolder(), 'log');
    const fd = openSync(path, 'w');
    const writer = new LogWriter(fd);
    const text = lines(1_000);
    for (const line of text) writer.write(line);
    while (readFileSync(path, 'utf8').length < text.join('').length) await delay(20);
    expect(readFileSync(path, 'utf8')).to.equal(text.join(''));
    closeSync(fd);
  });

  it('has a line at once if there was none for long', async () => {
    const folder = await temporaryFolder();
    // A busy machine may take that long to write it.
    let tries = 0;
    while (!(await isAtOnce(join(folder, String(tries))))) expect((tries += 1)).to.be.below(20);
  });

  it('comes whole through a pipe that does not block', async () => {
    const { fd, read } = await pipe(constants.O_NONBLOCK);
    const writer = new LogWriter(fd);
    const text = lines(300);
    for (const line of text) writer.write(line);
    await delay(150);
    const size = Buffer.byteLength(text.join(''));
    expect(await read((_, length) => length >= size)).to.equal(text.join(''));
    closeSync(fd);
  });

  it('waits for nobody who does not read it, and says how many lines were dropped', async () => {
    const { fd, read } = await pipe(0);
    const writer = new LogWriter(fd);
    const text = lines(20_000); // 10 million characters
    for (const line of text) writer.write(line);
    await delay(150);
    await read((_, length) => length > 100_000);
    writer.write('{"msg":"more"}\n');
    const written = (await read((end) => end.endsWith('more"}\n'))).split('\n').slice(0, -2);
    const { level, msg, dropped } = JSON.parse(written.pop() ?? '') as Record<string, unknown>;
    expect([level, msg]).to.deep.equal([40, 'lines of the log were dropped']);
    expect(written).to.have.length(text.length - Number(dropped));
    expect(`${written.join('\n')}\n`).to.equal(text.slice(0, written.length).join(''));
    writer.write('{"msg":"last"}\n');
    const all = await read((end) => end.endsWith('last"}\n'));
    expect(all.match(/were dropped/g)).to.have.length(1);
    closeSync(fd);
  });
});
