import type { HttpRequest, HttpResponse } from './http-message.js';

/**
 * Adds the ETag to a 200 (RFC 9110, 8.8.3), or makes it a 304 if the client has that already (`If-None-Match`, 13.1.2).
 */
export async function respondConditionally(
  request: HttpRequest,
  { status, headers, body }: HttpResponse,
): Promise<HttpResponse> {
  // A full last page gets a Link when a next page appears, so the tag is of the Link too.
  const content = typeof body === 'string' ? [headers['Link'], body].join('\n') : body;
  const digest = await sha256(content);
  // 132 bits: enough to rule out collisions.
  const ETag = `"${digest.slice(0, 22)}"`;
  const known = request.header('if-none-match')?.split(',') ?? [];
  // Weakly, as If-None-Match compares.
  const isKnown = known.some((tag) => ['*', ETag].includes(tag.trim().replace(/^W\//, '')));
  if (!isKnown) return { status, headers: { ...headers, ETag }, body };
  const { 'Content-Type': _type, 'Content-Encoding': _encoding, ...others } = headers;
  return { status: 304, headers: { ...others, ETag }, body: '' };
}

// For texts this short, Web Crypto takes twenty times as long as Node's own hash.
const { hash } = globalThis['process']?.getBuiltinModule?.('node:crypto') ?? {};

/** In base64url, or where there is only Web Crypto in base64. */
async function sha256(content: string | Uint8Array): Promise<string> {
  if (hash) return hash('sha256', content, 'base64url');
  const bytes = new TextEncoder().encode(String(content));
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}
