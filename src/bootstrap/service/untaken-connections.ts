import type { ChildProcess } from 'node:child_process';
import type { Worker } from 'node:cluster';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The part of the messages between node:cluster and its workers that hands over connections. */
interface Handover {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** With a list of later messages while it waits for a worker to receive a connection. */
type Child = ChildProcess & { _handleQueue?: unknown };

/**
 * Hands the connections on the way to a worker that dies to the others. node:cluster waits for the dead worker's
 * receipt: it would keep the connections, whose clients would wait, and never count the worker as disconnected.
 */
export function handOnUntaken(worker: Worker): void {
  const child: Child = worker.process;
  const untaken = new Set<number | undefined>();
  const send = child.send.bind(child) as (message: Handover, ...more: unknown[]) => boolean;
  child.send = (message: Handover, ...more: unknown[]) => {
    if (message.act === 'newconn') untaken.add(message.seq);
    return send(message, ...more);
  };
  child.on('internalMessage', ({ ack }: Handover) => untaken.delete(ack));
  worker.on('error', () => {}); // a connection was sent to the dead worker
  worker.once('exit', () => void handOn());

  async function handOn(): Promise<void> {
    child._handleQueue = null; // the child would keep its channel open, to send them
    while (child.connected) await nextTurn(); // until its last messages were read
    for (const ack of untaken) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
  }
}
