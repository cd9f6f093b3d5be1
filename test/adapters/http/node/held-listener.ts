import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** A listener whose answers the test gives. */
export class Held {
  readonly responses: Array<{ readonly request: IncomingMessage; readonly response: ServerResponse }> = [];
  #arrival = Promise.withResolvers<void>();

  readonly listener: RequestListener = (request, response) => {
    this.responses.push({ request, response });
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  };

  /** The targets of what has come so far. */
  get targets(): ReadonlyArray<string | undefined> {
    return this.responses.map(({ request }) => request.url);
  }

  /** The response to the request that comes as the `index`th, from 0, as soon as it is there. */
  async nth(index: number): Promise<ServerResponse> {
    for (;;) {
      const found = this.responses[index];
      if (found) return found.response;
      await this.#arrival.promise;
    }
  }
}
