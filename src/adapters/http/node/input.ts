const NOTHING = Buffer.alloc(0);
/** Ends the headers of a request, and a body in chunks. */
const EMPTY_LINE = '\r\n\r\n';
const LF = 10;
const CR = 13;

/**
 * What a client has sent and the parser has not got: the rest of a body, then further requests. It is taken in pieces,
 * none of which goes beyond the headers or the body of a request.
 */
export class Input {
  #bytes: Buffer = NOTHING;
  /** How much of a body of known length was not taken yet, in bytes. It may not have come. */
  #bodyLeft = 0;

  get length(): number {
    return this.#bytes.length;
  }

  /** Whether the rest of a body of known length has come, or none is expected. */
  get hasWholeBody(): boolean {
    return this.#bytes.length >= this.#bodyLeft;
  }

  /**
   * Drops the empty lines before a request (RFC 9112, 2.2): as pieces, each would take a turn and a search of all others.
   * Returns whether the first byte of the request has come.
   */
  beginRequest(): boolean {
    if (this.#bodyLeft > 0) return false;
    const start = this.#bytes.findIndex((byte) => byte !== CR && byte !== LF);
    this.#bytes = start < 0 ? NOTHING : this.#bytes.subarray(start);
    return start >= 0;
  }

  add(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }

  /** @param length of the body behind the headers that were taken; 0 for a body in chunks, or none */
  expectBody(length: number): void {
    this.#bodyLeft = length;
  }

  /**
   * Takes the next piece, if one has come.
   * @param most the largest piece of headers, or of a body in chunks
   */
  take(most: number): Buffer | undefined {
    const bytes = this.#bytes;
    const isBody = this.#bodyLeft > 0;
    // Behind its last chunk a body in chunks ends with an empty line, as headers do.
    const length = isBody
      ? Math.min(bytes.length, this.#bodyLeft)
      : lengthToEmptyLine(bytes.subarray(0, most));
    if (length === 0) return undefined;
    if (isBody) this.#bodyLeft -= length;
    this.#bytes = length === bytes.length ? NOTHING : bytes.subarray(length);
    return bytes.subarray(0, length);
  }

  /** Drops what has come. */
  clear(): void {
    this.#bytes = NOTHING;
  }
}

/** The length of the input to the end of an empty line, or of all. The beginning of an empty line waits for its end. */
const lengthToEmptyLine = (bytes: Buffer): number => {
  const end = bytes.indexOf(EMPTY_LINE);
  return end < 0 ? Math.max(0, bytes.length - 3) : end + EMPTY_LINE.length;
};
