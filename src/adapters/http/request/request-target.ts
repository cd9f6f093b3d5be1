/** The two halves of a request target as sent: nothing is decoded, resolved or merged. */
export interface RequestTarget {
  /** Before the first `?`, percent-encoding and all. */
  readonly path: string;
  /** Behind the first `?`; empty when there is none. */
  readonly query: string;
}

/** Splits a request target in origin-form or absolute-form (RFC 9112, 3.2), whose scheme and authority are left out. */
export function splitRequestTarget(target: string): RequestTarget {
  const origin = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const mark = origin.indexOf('?');
  if (mark === -1) return { path: origin, query: '' };
  return { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}
