import { expect } from 'chai';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { closeServers, echoTarget, head, inTime, listening } from './listening-server.js';
import { RawConnection, expectError, parseAnswers } from './raw-connection.js';

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const VALID: readonly string[] = [
  head('GET /'),
  head('HEAD /'),
  head('OPTIONS *'),
  head('GET /1') + head('GET /2') + head('GET /3'),
  `${head('POST /', 'Content-Length: 4')}four${head('GET /')}`,
  `${head('POST /', 'Transfer-Encoding: chunked')}4;a=b\r\nfour\r\n0\r\nTrailer: t\r\n\r\n${head('GET /')}`,
  `${head('POST /', 'Expect: 100-continue', 'Content-Length: 4')}four`,
  head('CONNECT a:1'),
  head('GET /', 'Connection: close'),
  head('GET /', 'Connection: Upgrade', 'Upgrade: websocket'),
  head('GET /', 'Authorization: Bearer k', 'Authorization: Bearer k', `X: ${'x'.repeat(300)}`),
  'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n',
];
const PIECES = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  'Host: b\r\n',
  'Content-Length: 9\r\n',
  '\u00ff',
  ...VALID,
];

/** A valid request with one to four bytes or pieces changed, put in, cut out or said twice. */
function mutated(random: () => number): Buffer {
  const below = (bound: number): number => Math.floor(random() * bound);
  let text = VALID[below(VALID.length)] ?? '';
  for (let changes = 1 + below(4); changes > 0; changes -= 1) {
    const at = below(text.length + 1);
    const to = at + below(8);
    const before = text.slice(0, at);
    switch (below(5)) {
      case 0:
        text = before + String.fromCodePoint(below(256)) + text.slice(at + 1);
        break;
      case 1:
        text = before + (PIECES[below(PIECES.length)] ?? '') + text.slice(at);
        break;
      case 2:
        text = before + text.slice(to);
        break;
      case 3:
        text = text.slice(0, to) + text.slice(at);
        break;
      default:
        text = before; // and nothing more comes
    }
  }
  return Buffer.from(text, 'latin1');
}

describe('Hostile bytes', () => {
  afterEach(closeServers);

  it('are each answered or cut off in time, 2,000 connections of them, and nothing is thrown', async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
    const random = seededRandom(seed);
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    // mocha's own listeners come after this one, and fail the test as well.
    process.prependListener('uncaughtException', note).prependListener('unhandledRejection', note);
    const { port, server } = await listening(
      (request, response) => {
        request.resume().on('end', () => {
          const text = request.method === 'HEAD' ? '' : 'listener';
          response.writeHead(200, { 'Content-Length': text.length }).end(text);
        });
      },
      {
        limits: {
          headersTimeout: 100,
          requestTimeout: 150,
          connectionsCheckingInterval: 20,
          keepAliveTimeout: 50,
          lingerTime: 100,
        },
      },
    );
    try {
      const one = async (round: number): Promise<void> => {
        const bytes = mutated(random);
        const connection = await RawConnection.open(port, bytes);
        if (round % 10 === 0) connection.socket.resetAndDestroy();
        else if (round % 10 === 1) connection.socket.end();
        try {
          await inTime(5_000, connection.closed);
          expectAllWellFormed(connection.bytes, bytes);
        } catch (error) {
          throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(bytes.toString('latin1'))}`, {
            cause: error,
          });
        }
      };
      let round = 0;
      const worker = async (): Promise<void> => {
        while (round < 2_000) await one((round += 1));
      };
      await Promise.all(Array.from({ length: 100 }, worker));
      expect((await (await RawConnection.open(port, head('GET /'))).answers(1))[0]?.body).to.equal(
        'listener',
      );
      expect(await inTime(5_000, server.close(1_500))).to.equal(true);
    } finally {
      process.off('uncaughtException', note).off('unhandledRejection', note);
    }
    expect(thrown).to.deep.equal([]);
  }).timeout(30_000);

  it('of 1,000 short connections leave none behind', async () => {
    let listener: Server | undefined;
    const { port } = await listening(
      (request, response) => {
        listener = (request.socket as Socket & { server: Server }).server;
        echoTarget(request, response);
      },
      { limits: { lingerTime: 100 } },
    );
    await (await RawConnection.open(port, head('GET /', 'Connection: close'))).allAnswers();
    const kinds = [
      head('GET /'),
      head('GET /', 'Connection: close'),
      '@@\r\n\r\n',
      head('CONNECT a:1'),
      'GET',
      '',
    ];
    const { promise: allGone, resolve } = Promise.withResolvers<void>();
    let gone = 0;
    listener?.on('connection', (socket: Socket) => {
      socket.once('close', () => {
        gone += 1;
        if (gone === 1_000) resolve();
      });
    });
    const one = async (index: number): Promise<void> => {
      const connection = await RawConnection.open(port, kinds[index % kinds.length]);
      if (index % 7 === 0) connection.socket.resetAndDestroy();
      else connection.socket.end();
      await connection.closed;
    };
    for (let index = 0; index < 1_000; index += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, offset) => one(index + offset)));
    }
    await inTime(5_000, allGone);
    expect(await new Promise((done) => listener?.getConnections((_error, count) => done(count)))).to.equal(0);
  }).timeout(20_000);
});

/** Every answer is the listener's, or an error in the interface's shape; only the last may be cut off. */
function expectAllWellFormed(received: Buffer, sent: Buffer): void {
  const isHead = sent.toString('latin1').includes('HEAD');
  // Which of several answers is HEAD's cannot be told from mutated bytes.
  if (isHead) return;
  const { answers } = parseAnswers(received);
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 200) expect(answer.body).to.equal('listener');
    else {
      const { code } = JSON.parse(answer.body) as { readonly code: string };
      expectError(answer, answer.status, code);
      expect(index, 'what stands behind an error that closes').to.equal(answers.length - 1);
    }
  }
}
