import { BSON, type Document } from 'mongodb';

/*
 * The little of the wire protocol that a proxy between driver and server needs:
 * https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
 */

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;

/** Where the first document of a message begins, by its kind. */
const bodyOffset = (frame: Buffer): number => {
  switch (frame.readInt32LE(12)) {
    case OP_REPLY:
      return 36;
    case OP_QUERY:
      return frame.indexOf(0, 20) + 9; // behind the name of the collection and two numbers
    case OP_MSG:
      return 21;
    default:
      throw new Error(`a message of kind ${frame.readInt32LE(12)} was not expected`);
  }
};

/** Cuts a stream into whole messages. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);

  *read(chunk: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4) {
      const length = this.#rest.readInt32LE(0);
      if (this.#rest.length < length) return;
      yield this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
    }
  }
}

/** The command's name: that of the first field. */
export function commandName(frame: Buffer): string {
  const start = bodyOffset(frame) + 5;
  return frame.toString('latin1', start, frame.indexOf(0, start));
}

/** The message's first document, every value with its type. */
export function bodyOf(frame: Buffer): Document {
  const start = bodyOffset(frame);
  return BSON.deserialize(frame.subarray(start, start + frame.readInt32LE(start)), {
    promoteValues: false,
    promoteLongs: false,
  });
}

/** The same message with another document. */
export function withBody(frame: Buffer, body: Document): Buffer {
  const changed = Buffer.concat([frame.subarray(0, bodyOffset(frame)), BSON.serialize(body)]);
  changed.writeInt32LE(changed.length, 0);
  return changed;
}

/** An answer to a request. */
export function answerTo(request: Buffer, body: Document): Buffer {
  const head = Buffer.alloc(21);
  head.writeInt32LE(request.readInt32LE(4), 8);
  head.writeInt32LE(OP_MSG, 12);
  return withBody(head, body);
}
