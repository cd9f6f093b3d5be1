import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import { addressOf, type MongoServer } from './mongo-server.js';
import { answerTo, bodyOf, commandName, Frames, withBody } from './mongo-wire.js';

const SET = 'illusion';

const GREETINGS = new Set(['hello', 'isMaster', 'ismaster']);

/** Commands that any member answers. */
const EVERYWHERE = new Set([...GREETINGS, 'ping', 'endSessions', 'killCursors']);

const NOT_PRIMARY = {
  ok: 0,
  code: 10_107,
  codeName: 'NotWritablePrimary',
  errmsg: 'not primary',
  errorLabels: ['RetryableWriteError'],
};

interface Member {
  readonly listener: Server;
  readonly sockets: Set<Socket>;
  host: string;
}

/**
 * Three members of a replica set in front of one server: it rewrites what the server says of the topology, so that a
 * test can hold elections at once. It shows what the client does, not what servers do: nothing replicates or is rolled
 * back.
 */
export class ReplicaSetIllusion {
  readonly #target: { host: string; port: number };
  readonly #members: Member[] = [];
  #primary: number | undefined = 0;
  #term = 1;

  constructor(server: MongoServer) {
    this.#target = addressOf(server);
  }

  /** Hosts and options for a connection string. */
  uriFor(database: string): string {
    const hosts = this.#members.map(({ host }) => host).join(',');
    return `mongodb://${hosts}/${database}?replicaSet=${SET}&serverMonitoringMode=poll&heartbeatFrequencyMS=500`;
  }

  async open(): Promise<this> {
    for (const index of [0, 1, 2]) {
      const member: Member = { listener: createServer(), sockets: new Set(), host: '' };
      member.listener.on('connection', (client) => this.#serve(index, member, client));
      member.listener.listen(0, '127.0.0.1');
      await once(member.listener, 'listening');
      member.host = `127.0.0.1:${(member.listener.address() as AddressInfo).port}`;
      this.#members.push(member);
    }
    return this;
  }

  /** The primary steps down, cutting its connections, whatever was on its way. Nobody is primary until `elect`. */
  stepDown(): void {
    const old = this.#primary === undefined ? undefined : this.#members[this.#primary];
    this.#primary = undefined;
    for (const socket of old?.sockets ?? []) socket.destroy();
  }

  elect(index: number): void {
    this.#primary = index % this.#members.length;
    this.#term += 1;
  }

  async close(): Promise<void> {
    for (const { listener, sockets } of this.#members) {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    }
  }

  #serve(index: number, member: Member, client: Socket): void {
    const server = connect(this.#target);
    const greetings = new Set<number>();
    const [requests, answers] = [new Frames(), new Frames()];
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.on('error', end);
      socket.on('close', () => {
        member.sockets.delete(socket);
        end();
      });
    }
    member.sockets.add(client);
    client.on('data', (chunk: Buffer) => {
      for (const frame of requests.read(chunk)) {
        const name = commandName(frame);
        if (GREETINGS.has(name)) greetings.add(frame.readInt32LE(4));
        if (index === this.#primary || EVERYWHERE.has(name)) server.write(frame);
        else client.write(answerTo(frame, NOT_PRIMARY));
      }
    });
    server.on('data', (chunk: Buffer) => {
      for (const frame of answers.read(chunk)) {
        const isGreeting = greetings.delete(frame.readInt32LE(8));
        client.write(isGreeting ? withBody(frame, this.#introduce(index, bodyOf(frame))) : frame);
      }
    });
  }

  /** What the member says of itself. */
  #introduce(index: number, greeting: Document): Document {
    const isPrimary = index === this.#primary;
    const primary = this.#primary === undefined ? undefined : this.#members[this.#primary]?.host;
    const introduction: Document = {
      ...greeting,
      setName: SET,
      setVersion: new BSON.Int32(1),
      hosts: this.#members.map(({ host }) => host),
      me: this.#members[index]?.host,
      ismaster: isPrimary,
      isWritablePrimary: isPrimary,
      secondary: !isPrimary,
    };
    delete introduction['topologyVersion'];
    delete introduction['primary'];
    delete introduction['electionId'];
    if (primary !== undefined) introduction['primary'] = primary;
    if (isPrimary) {
      introduction['electionId'] = new BSON.ObjectId(this.#term.toString(16).padStart(24, '0'));
    }
    return introduction;
  }
}
