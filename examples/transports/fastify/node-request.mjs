import { once } from 'node:events';
import { HttpError, splitRequestTarget } from 'animal-store/http';

/** A request of Node.js as the interface needs it: nothing decoded, nothing dropped. */
export class NodeRequest {
  #request;
  #response;
  #bodyLimit;

  constructor(request, response, bodyLimit) {
    this.#request = request;
    this.#response = response;
    this.#bodyLimit = bodyLimit;
    this.method = request.method;
    Object.assign(this, splitRequestTarget(request.url));
  }

  // Node's `headers` drops repeated ones.
  #values(name) {
    const { rawHeaders } = this.#request;
    return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1].toLowerCase() === name);
  }

  header(name) {
    const values = this.#values(name);
    return values.length > 0 ? values.join(', ') : undefined;
  }

  isRepeated(name) {
    return this.#values(name).length > 1;
  }

  get announcesBody() {
    const length = this.header('content-length');
    return length === undefined ? this.header('transfer-encoding') !== undefined : !/^0*$/.test(length);
  }

  async hasBody() {
    // A length says it; who waits for "100 Continue" means to send something, and is not to be told to.
    if (this.header('content-length') !== undefined || this.header('expect') !== undefined) return true;
    const request = this.#request;
    if (request.readableLength === 0 && !request.complete) {
      await Promise.race([once(request, 'readable'), once(request, 'close')]);
    }
    return request.readableLength > 0;
  }

  async readBody() {
    const tooLarge = () =>
      new HttpError('payload_too_large', `The body is larger than ${this.#bodyLimit} bytes.`);
    if (Number(this.header('content-length') ?? 0) > this.#bodyLimit) throw tooLarge();
    const chunks = [];
    let length = 0;
    try {
      // Left early, the request must not be destroyed: its answer is still to be sent.
      for await (const chunk of this.#request.iterator({ destroyOnReturn: false })) {
        length += chunk.length;
        if (length > this.#bodyLimit) throw tooLarge();
        chunks.push(chunk);
      }
    } catch (error) {
      throw error instanceof HttpError ? error : new HttpError('request_timeout', 'The client went away.');
    }
    return Buffer.concat(chunks);
  }

  onGone(listener) {
    this.#response.once('close', listener);
  }
}
