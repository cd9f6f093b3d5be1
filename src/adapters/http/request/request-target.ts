/** The two halves of a request target as sent: nothing is decoded, resolved or merged. */
export interface RequestTarget {
  /** Before the first `?`, percent-encoding and all. */
  readonly path: string;
  /** Behind the first `?`; empty when there is none. */
  readonly query: string;
}

/**
 * Splits a request target in origin-form or absolute-form (RFC 9112, 3.2), whose scheme and authority are left out.
 * Of another scheme than HTTP's, or without an authority, which makes it invalid (RFC 9110, 4.2), it is left whole:
 * a path that nothing is served at.
 */
export function splitRequestTarget(target: string): RequestTarget {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]+/i, '');
  const mark = origin.indexOf('?');
  if (mark === -1) return { path: origin, query: '' };
  return { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}
