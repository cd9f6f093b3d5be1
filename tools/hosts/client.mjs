// Clients of the checks: one that waits for its response, and one that leaves before.
import { request as open } from 'node:http';
import { KEY } from './start-host.mjs';

export const PET = '{"name":"Bella","categoryId":9223372036854775807}';
const PATIENCE = 20_000;

/** A client of a function from Request to Response. It resolves to `{ status, headers, body }`. */
export const sendBy =
  (handle) =>
  async (url, { headers, ...init } = {}) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const all = { ...authorized(init.body), ...headers };
    const response = await handle(
      new Request(url, { ...init, signal, redirect: 'manual', headers: all }),
    );
    const { status } = response;
    return { status, headers: Object.fromEntries(response.headers), body: await response.text() };
  };

export const send = sendBy(fetch);

/** Sends a request and leaves after 5 ms. A body is announced whole, and breaks off. */
export const leave = (url, body) =>
  new Promise((resolve) => {
    const headers = { ...authorized(body), ...(body && { 'Content-Length': body.length }) };
    const request = open(url, { method: body ? 'POST' : 'GET', agent: false, headers });
    request.on('response', (response) => response.resume());
    request.on('error', () => {});
    request.once('close', resolve);
    request.once('socket', (socket) => {
      socket.once('connect', () => setTimeout(() => request.destroy(), 5));
    });
    if (body) request.write(body.slice(0, 10));
    else request.end();
  });

const authorized = (body) => ({
  Authorization: `Bearer ${KEY}`,
  ...(body && { 'Content-Type': 'application/json' }),
});
