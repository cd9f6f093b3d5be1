import { strict as assert } from 'node:assert';
import { header } from './answer-promises.js';
import type { Ready } from './ready-subject.js';
import { get } from './request-row.js';
import type { Answer } from './conversation.js';
import { nextTarget } from './next-target.js';

const PAGE = 10;

/** Looks over HTTP at what is stored: the end of the list tells whether anything was added. */
export class Catalogue {
  readonly #subject: Ready;
  /** The last page that was seen to be the last: nothing before it changes. */
  #target: string;
  #known: string | undefined;

  constructor(subject: Ready) {
    this.#subject = subject;
    this.#target = `${subject.values.base}/pets?limit=${PAGE}`;
  }

  /** Something else adds animals: what is known of the end says nothing. */
  forget(): void {
    this.#known = undefined;
  }

  /** From here on nothing is to be added. */
  async remember(): Promise<void> {
    this.#known ??= await this.#end();
  }

  /** Holds the store to what was there when it was looked at last. */
  async checkUnchanged(): Promise<void> {
    const before = this.#known;
    this.#known = await this.#end();
    assert.equal(this.#known, before, 'something was stored');
  }

  /**
   * Holds the store to this answer: get gives back the animal to the byte, and the list ends with it.
   * @returns its identifier
   */
  async checkCreated(answer: Answer): Promise<string> {
    const id = /\/pets\/(\d+)$/.exec(header(answer, 'Location'))?.[1] ?? '';
    const body = answer.body.toString();
    assert.ok(body.startsWith(`{"id":${id},`), `the id of ${body} is not that of the Location`);
    const got = await this.#get(`${this.#subject.values.base}/pets/${id}`);
    assert.equal(got.body.toString(), body, 'get gives back another animal');
    this.#known = await this.#end();
    assert.ok(
      this.#known.endsWith(`[${body}]`) || this.#known.endsWith(`,${body}]`),
      'the list does not end with the animal',
    );
    return id;
  }

  /** The bytes of the last page, behind where it is. */
  async #end(): Promise<string> {
    for (;;) {
      const answer = await this.#get(this.#target);
      const next = nextTarget(answer);
      if (next === undefined) return `${this.#target} ${answer.body.toString()}`;
      this.#target = next;
    }
  }

  async #get(target: string): Promise<Answer> {
    const { answers } = await this.#subject.send({ ...get(''), target });
    const [answer] = answers;
    assert.equal(answer?.status, 200, `${target} was answered ${answer?.status}`);
    return answer;
  }
}
