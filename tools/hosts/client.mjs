// Clients of the checks: one that waits for its response, and one that leaves before.
import { request as open } from 'node:http';
import { KEY } from './start-host.mjs';

export const PET = '{"name":"Bella","categoryId":9223372036854775807}';
const PATIENCE = 20_000;

/** Sends a request on a connection of its own. Resolves to `{ status, headers, body }`. */
export const send = (url, { method = 'GET', headers, body } = {}) =>
  new Promise((resolve, reject) => {
    const options = { method, agent: false, headers: { ...authorized(body), ...headers }, timeout: PATIENCE };
    const request = open(url, options, (response) => {
      const { statusCode: status, headers } = response;
      const read = async () => Buffer.concat(await Array.fromAsync(response)).toString();
      read().then((body) => resolve({ status, headers, body }), reject);
    });
    request.once('timeout', () => request.destroy(new Error(`no response within ${PATIENCE / 1000} s`)));
    request.once('error', reject);
    request.end(body);
  });

/** Sends a request and leaves after 5 ms. A body is announced whole, and breaks off. */
export const leave = (url, body) =>
  new Promise((resolve) => {
    const headers = authorized(body);
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

export const authorized = (body) => ({
  Authorization: `Bearer ${KEY}`,
  ...(body && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
});
