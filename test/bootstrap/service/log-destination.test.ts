import { expect } from 'chai';
import { execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { logDestination } from '../../../src/bootstrap/service/logger.js';
import { cleanUp, temporaryFolder } from '../../service/running-service.js';

const lines = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify({ index, msg: 'é'.repeat(500) })}\n`);

const readers: number[] = [];

/** Whether enough was read, by the last characters and the number of all: to look at a text that grows is slow. */
type IsEnough = (end: string, length: number) => boolean;

/** A pipe whose read end `closeReaders` closes: then a blocked write fails, in place of holding the process. */
async function pipe(flags: number): Promise<{ fd: number; read: (isEnough: IsEnough) => Promise<string> }> {
  const path = join(temporaryFolder(), 'pipe');
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

const DESTINATION = new URL('../../../src/bootstrap/service/logger.js', import.meta.url).href;
/** Writes 400 lines in two turns, the last of them just before the process ends. */
const PROGRAM = `
  process.stderr.on('error', () => {}); // as the program does: makes a pipe non-blocking
  const log = await (await import('${DESTINATION}')).logDestination(2);
  for (let line = 1; line < 400; line += 1) log.write('x'.repeat(2000) + ' ' + line + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 150));
  log.write('last\\n');
  process.exit(3);`;

/** Runs the program with this as its stderr. */
const writing = (stderr: 'pipe' | number) => {
  const stdio: StdioOptions = ['ignore', 'ignore', stderr];
  return spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], { stdio });
};

describe('The log', () => {
  afterEach(closeReaders);
  afterEach(cleanUp);

  it('is written in order, and soon', async () => {
    const path = join(temporaryFolder(), 'log');
    const fd = openSync(path, 'w');
    const log = await logDestination(fd);
    const text = lines(1_000);
    for (const line of text) log.write(line);
    while (readFileSync(path, 'utf8').length < text.join('').length) await delay(20);
    expect(readFileSync(path, 'utf8')).to.equal(text.join(''));
    closeSync(fd);
  });

  it('comes whole through a pipe that is full for a while', async () => {
    const { fd, read } = await pipe(constants.O_NONBLOCK);
    const log = await logDestination(fd);
    const text = lines(300);
    for (const line of text) log.write(line);
    await delay(150);
    const size = Buffer.byteLength(text.join(''));
    expect(await read((_, length) => length >= size)).to.equal(text.join(''));
    closeSync(fd);
  });

  it('waits for nobody who does not read it, and says how many lines were dropped', async () => {
    const { fd, read } = await pipe(constants.O_NONBLOCK);
    const log = await logDestination(fd, 500_000);
    const text = lines(1_000); // a million bytes
    for (const line of text) log.write(line);
    const written = (await read((end) => end.endsWith('dropped"}\n'))).split('\n').slice(0, -1);
    const { level, msg, dropped } = JSON.parse(written.pop() ?? '') as Record<string, unknown>;
    expect([level, msg]).to.deep.equal([40, 'lines of the log were dropped']);
    expect(written).to.have.length(text.length - Number(dropped));
    expect(`${written.join('\n')}\n`).to.equal(text.slice(0, written.length).join(''));
    log.write('{"msg":"last"}\n');
    const all = await read((end) => end.endsWith('last"}\n'));
    expect(all.match(/were dropped/g)).to.have.length(1);
    closeSync(fd);
  });

  it('has its last lines when the process ends, through a pipe whose reader is slower', async () => {
    const child = writing('pipe');
    if (child.stderr === null) throw new Error('there is no pipe');
    await once(child.stderr, 'readable');
    await delay(300); // the process waits for its end then
    let text = '';
    for await (const part of child.stderr) text += String(part);
    expect(text.match(/^x+ \d+$/gm)).to.have.length(399);
    expect(text).to.match(/\nlast\n$/);
  });

  const readersAtFault: Record<string, () => Promise<'pipe' | number>> = {
    'that has gone': async () => 'pipe',
    'that does not read': async () => (await pipe(constants.O_NONBLOCK)).fd,
    'whose disk is full': async () => openSync('/dev/full', 'w'),
  };
  for (const [reader, stderr] of Object.entries(readersAtFault))
    it(`lets the process go on and end with a reader ${reader}`, async () => {
      const child = writing(await stderr());
      child.stderr?.destroy();
      const [code, signal] = await once(child, 'exit');
      expect([code, signal]).to.deep.equal([3, null]);
    });
});
