import type { Worker } from 'node:cluster';

/** A message is a question, or the answer to the question of the same number. */
interface Message {
  readonly number: number;
  readonly question?: string;
  readonly content?: unknown;
}

/** By question, from its content. A question that has none is answered by `undefined`. */
type Answers = Readonly<Record<string, ((content: never) => unknown) | undefined>>;

/** Questions and answers between the primary process and a worker. */
export class Channel {
  readonly #end: NodeJS.Process | Worker;
  readonly #answers: Answers;
  readonly #asked = new Map<number, (content?: unknown) => void>();
  #number = 0;

  constructor(end: NodeJS.Process | Worker, answers: Answers) {
    this.#end = end;
    this.#answers = answers;
    const emitter: NodeJS.EventEmitter = end;
    emitter.on('message', (message: Message) => void this.#receive(message));
    emitter.on('exit', () => this.#asked.forEach((resolve) => resolve()));
  }

  /** Resolves to the answer, or to `undefined` if the other process ends before. */
  ask(question: string, content?: unknown): Promise<unknown> {
    return new Promise((resolve) => {
      this.#number += 1;
      this.#asked.set(this.#number, resolve);
      this.#send({ number: this.#number, question, content });
    });
  }

  async #receive({ number, question, content }: Message): Promise<void> {
    if (question !== undefined)
      return this.#send({ number, content: await this.#answers[question]?.(content as never) });
    this.#asked.get(number)?.(content);
    this.#asked.delete(number);
  }

  #send(message: Message): void {
    const sent = (error: Error | null): void => void (error && this.#asked.get(message.number)?.());
    this.#end.send?.(message, undefined, undefined, sent);
  }
}
