/** A request as the interface needs it, apart from any framework. Transports make one of what they received. */
export interface HttpRequest {
  /** As sent, in upper case. */
  readonly method: string;
  /** The path as sent, percent-encoding and all, without the query. */
  readonly path: string;
  /** What stands behind the first `?`; empty when nothing does. */
  readonly query: string;
  /**
   * The value of a header named in lower case; `undefined` when it was not sent. The values of a header that
   * was sent several times are joined by `, ` (RFC 9110, 5.3), never dropped: two are not one.
   */
  header(name: string): string | undefined;
  /** Whether a header named in lower case was sent more than once, as far as the transport can tell. */
  isRepeated(name: string): boolean;
  /** Whether the request announces a body of at least one byte, or of unknown length. */
  readonly announcesBody: boolean;
  /** Whether at least one byte of body comes; waits for it where its length was not announced. Takes nothing away. */
  hasBody(): Promise<boolean>;
  /**
   * Reads the whole body, once; only after this the client is told to go on where it waits for that (`Expect`).
   * @throws {HttpError} `payload_too_large` beyond the limit of the settings; what is left is not read.
   */
  readBody(): Promise<Uint8Array>;
  /** Calls `listener` once nobody waits for the answer any more: it is out, or the client has gone. */
  onGone(listener: () => void): void;
}

/** An answer, complete. A HEAD request gets all of it but the body. */
export interface HttpAnswer {
  /** The HTTP status, from 200 to 599. */
  readonly status: number;
  /** Names in their usual spelling. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the Content-Type; empty where there is no body. */
  readonly body: string;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
