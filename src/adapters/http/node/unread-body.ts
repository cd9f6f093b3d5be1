import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './server-limits.js';

/*
 * Left alone, Node reads the rest of an unwanted body to its end, however long, or, told to close, closes
 * with bytes unread, on which the network resets the connection and the answer is lost. So an answer that
 * comes before its request was read says `Connection: close`, little of the rest is read and thrown away,
 * and the connection stays half open for a moment.
 */

/** Has `closing` called, and the connection closed with care, if the answer begins before the body was read. */
export function closeAfterUnreadBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: ServerLimits,
  closing: () => void,
): void {
  const writeHead = response.writeHead.bind(response);
  // Node calls it for headers written implicitly too.
  response.writeHead = (...head: unknown[]): ServerResponse => {
    if (!request.readableEnded && !response.headersSent) {
      closing();
      response.setHeader('Connection', 'close');
      discardRest(request, limits.lingerBytes);
      lingerOnClose(request, limits.lingerTime);
    }
    return (writeHead as (...head: unknown[]) => ServerResponse)(...head);
  };
}

function discardRest(request: IncomingMessage, limit: number): void {
  notAwaitingContinue(request);
  let left = limit;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.resume();
  request.read(0); // marks the body as being read, now: else Node would read all of it when the answer is out
}

/** Node calls `destroySoon` on the connection once the last answer is written. */
function lingerOnClose(request: IncomingMessage, time: number): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.readableEnded) return destroySoon();
    request.once('end', destroySoon);
    endThenDestroy(socket, time);
  };
}

/** Says that nothing more comes, and gives the other side a while to read what came and to close. */
export function endThenDestroy(socket: Socket, time: number, last?: string): void {
  if (last === undefined) socket.end();
  else socket.end(last);
  const timer = setTimeout(() => socket.destroy(), time).unref();
  socket.once('close', () => clearTimeout(timer));
}

const awaitingContinue = new WeakSet<IncomingMessage>();

const notAwaitingContinue = (request: IncomingMessage): boolean => awaitingContinue.delete(request);

/** Answers `Expect: 100-continue` when the body is first read, so that a refusal costs the client no upload. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  awaitingContinue.add(request);
  const read = request._read.bind(request);
  request._read = (size) => {
    if (notAwaitingContinue(request) && !response.headersSent) response.writeContinue();
    read(size);
  };
}
