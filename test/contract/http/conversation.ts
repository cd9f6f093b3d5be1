/** An answer, its bytes as they came. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** In the order and the spelling in which they came. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** The body, its transfer coding taken off. */
  readonly body: Buffer;
}

/** What came back for what was sent. */
export interface Conversation {
  /** In the order in which they came. */
  readonly answers: readonly Answer[];
  /** The statuses of interim answers. */
  readonly interim: readonly number[];
  /** The server closed the connection, and nothing but whole answers had come. */
  readonly closed: boolean;
  /** From the last byte sent to the first answer, in milliseconds. */
  readonly milliseconds: number;
}

/** The values of a header, named in any case. */
export const headerValues = ({ headers }: Answer, name: string): string[] =>
  headers.flatMap(([sent, value]) => (sent.toLowerCase() === name.toLowerCase() ? [value] : []));
