import { expect } from 'chai';
import { closeServers, head, inTime, listening } from './listening-server.js';
import { RawConnection, expectError, parseResponses } from './raw-connection.js';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
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
  head('GET /1') + head('GET /2') + head('GET /3'),
  `${head('POST /', 'Content-Length: 4')}four${head('GET /')}`,
  `${head('POST /', 'Transfer-Encoding: chunked')}4;a=b\r\nfour\r\n0\r\nTrailer: t\r\n\r\n${head('GET /')}`,
  `${head('POST /', 'Expect: 100-continue', 'Content-Length: 4')}four`,
  head('CONNECT a:1'),
  head('GET /', 'Connection: Upgrade', 'Upgrade: websocket') + head('GET /'),
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

/** A valid request in which one to four pieces are inserted, removed or repeated. */
function mutated(random: () => number): Buffer {
  const below = (bound: number): number => Math.floor(random() * bound);
  let text = VALID[below(VALID.length)] ?? '';
  for (let changes = 1 + below(4); changes > 0; changes -= 1) {
    const at = below(text.length + 1);
    const inserted = [String.fromCodePoint(below(256)), PIECES[below(PIECES.length)] ?? '', ''][below(3)];
    // From before to after this place: the bytes between are removed or repeated.
    text = text.slice(0, at) + inserted + text.slice(at - 4 + below(9));
  }
  return Buffer.from(text, 'latin1');
}

describe('Hostile bytes', () => {
  afterEach(closeServers);

  it('on 600 connections are each answered or cut off in time, and nothing is thrown', async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
    const random = seededRandom(seed);
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    // Mocha's own listeners come after this one, and fail the test as well.
    process.prependListener('uncaughtException', note).prependListener('unhandledRejection', note);
    const { port, server } = await listening(
      (request, response) => {
        request.resume().on('end', () => response.end(request.method === 'HEAD' ? '' : 'listener'));
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
    const one = async (round: number): Promise<void> => {
      const bytes = mutated(random);
      const connection = await RawConnection.open(port, bytes);
      if (round % 10 === 0) connection.socket.resetAndDestroy();
      else if (round % 10 === 1) connection.socket.end();
      try {
        await inTime(connection.closed);
        expectAllWellFormed(connection.received, bytes);
      } catch (cause) {
        const sent = JSON.stringify(bytes.toString('latin1'));
        throw new Error(`seed ${seed}, round ${round}: ${sent}`, { cause });
      }
    };
    try {
      let round = 0;
      const worker = async (): Promise<void> => {
        while (round < 600) await one((round += 1));
      };
      await Promise.all(Array.from({ length: 50 }, worker));
      // Resolves once no connection is left.
      expect(await inTime(server.close(30_000))).to.equal(true);
    } finally {
      process.off('uncaughtException', note).off('unhandledRejection', note);
    }
    expect(thrown).to.deep.equal([]);
  }).timeout(30_000);
});

/** Every response is the listener's, or an error in the interface's shape and the last. */
function expectAllWellFormed(received: string, sent: Buffer): void {
  // Mutated bytes do not tell which of several responses is that to HEAD.
  if (sent.toString('latin1').includes('HEAD')) return;
  const { responses } = parseResponses(received);
  for (const [index, response] of responses.entries()) {
    if (response.status === 200) expect(response.body).to.equal('listener');
    else {
      const { code } = JSON.parse(response.body) as { readonly code: string };
      expectError(response, response.status, code);
      expect(index, 'what follows an error that closes').to.equal(responses.length - 1);
    }
  }
}
