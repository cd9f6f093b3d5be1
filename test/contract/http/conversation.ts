import assert from 'node:assert/strict';

/** The server's side of a conversation. */
export interface Conversation {
  /** In the order in which they arrived, their bytes as they arrived. */
  readonly responses: ReadonlyArray<{
    /** The HTTP status. */
    readonly status: number;
    /** In the order and spelling in which they arrived. */
    readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
    /** The body, without its transfer coding. */
    readonly body: Buffer;
  }>;
  /** The statuses of interim responses. */
  readonly interim: readonly number[];
  /** Whether the server closed the connection, and nothing but whole responses came before. */
  readonly closed: boolean;
  /** From the start of sending to the first response, in milliseconds. */
  readonly milliseconds: number;
}

export type RawResponse = Conversation['responses'][number];

/** The values of a header; its name in any case. */
export const headerValues = ({ headers }: Pick<RawResponse, 'headers'>, name: string): string[] =>
  headers.flatMap(([sent, value]) => (sent.toLowerCase() === name.toLowerCase() ? [value] : []));

/** The value of a header that must be there once. */
export function header(response: RawResponse, name: string): string {
  const values = headerValues(response, name);
  assert.equal(values.length, 1, `${name} must be there once, and is ${JSON.stringify(values)}`);
  return values[0] ?? '';
}

/** Checks that a header is not there. */
export function checkAbsent(response: RawResponse, name: string): void {
  assert.deepEqual(headerValues(response, name), [], `${name} must not be there`);
}

/** The target of the Link to the next page, if there is one. */
export function nextTarget(response: RawResponse): string | undefined {
  const [link] = headerValues(response, 'Link');
  const target = link === undefined ? undefined : /^<([^<>]+)>; rel="next"$/.exec(link)?.[1];
  assert.equal(target === undefined, link === undefined, `not a Link to a next page: ${link}`);
  return target;
}
