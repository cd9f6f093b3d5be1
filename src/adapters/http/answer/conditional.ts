import type { HttpAnswer, HttpRequest } from '../http-message.js';

/**
 * An answer of 200 to a GET with its ETag (RFC 9110, 8.8.3), or 304 when the client has it already
 * (`If-None-Match`, 13.1.2). The tag stands for body and Link: the body of a full last page stays the same
 * when there comes to be a next one.
 */
export async function conditional(request: HttpRequest, found: HttpAnswer): Promise<HttpAnswer> {
  const digest = await sha256(`${found.headers['Link'] ?? ''}\n${found.body}`);
  const entityTag = `"${digest.slice(0, DIGITS)}"`;
  if (!isMatch(request.header('if-none-match'), entityTag)) {
    return { ...found, headers: { ...found.headers, ETag: entityTag } };
  }
  const { 'Content-Type': _type, ...headers } = found.headers;
  return { status: 304, headers: { ...headers, ETag: entityTag }, body: '' };
}

/** Weak comparison, as the header wants it. What is no list of entity tags matches nothing. */
function isMatch(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  if (!/^[\t ]*(?:(?:W\/)?"[^"]*"[\t ]*)?(?:,[\t ]*(?:(?:W\/)?"[^"]*"[\t ]*)?)*$/.test(ifNoneMatch))
    return false;
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => tag === entityTag);
}

/** As much of a SHA-256 in base64url as nobody makes collide: 132 bits. */
const DIGITS = 22;

// Web Crypto, which is everywhere, costs some twenty times of what Node's own hash does for texts as short as these.
const { hash } = globalThis.process?.getBuiltinModule?.('node:crypto') ?? {};

const sha256: (text: string) => string | Promise<string> = hash
  ? (text) => hash('sha256', text, 'base64url')
  : async (text) => {
      const digested = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      return btoa(String.fromCharCode(...new Uint8Array(digested)))
        .replaceAll('+', '-')
        .replaceAll('/', '_');
    };
