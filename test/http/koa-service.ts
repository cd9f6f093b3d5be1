import { connect } from 'node:net';
import { startService } from '../../src/bootstrap/service.js';
import { get, type Situation } from '../contract/http/request-row.js';
import { converse } from '../contract/http/socket-client.js';
import type { Subject } from '../contract/http/subject.js';
import { fillRequest, messageOf } from '../contract/http/wire.js';
import { keysOf, wire } from './wired-service.js';

/** Starts the service as it is wired, over Koa, on a free port, in this process. */
export async function startKoaService(situation: Situation, storeUrl: string): Promise<Subject> {
  const { container, store, called } = await wire(situation, storeUrl);
  const service = await startService(container);
  const url = new URL(service.url);
  const subject: Subject = {
    url: service.url,
    overSocket: true,
    values: await keysOf(container),
    send: (request, { answers = 1, untilClosed = false } = {}) =>
      converse(url, messageOf(request, url.host, answers), untilClosed),
    stop: async () => {
      const inTime = await service.stop(0);
      if (!inTime && store !== 'occupied') throw new Error('the service did not stop in time');
    },
  };
  if (store === 'occupied') {
    const request = fillRequest(get('/pets'), { ...subject.values, base: url.pathname });
    // Ended by nothing but the end of the service.
    connect(Number(url.port), url.hostname).write(messageOf(request, url.host, 1).bytes);
    await called;
  }
  return subject;
}
