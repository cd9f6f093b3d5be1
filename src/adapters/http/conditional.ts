import type { HttpRequest } from './http-message.js';

/** A strong entity tag: two bodies have the same only if they are the same (RFC 9110, 8.8.3). */
export async function entityTag(body: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)));
  return `"${[...digest.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}"`;
}

/** Whether the client has what the tag stands for: by If-None-Match, compared weakly (RFC 9110, 13.1.2). */
export function isKnown(request: HttpRequest, tag: string): boolean {
  const sent = request.header('if-none-match')?.trim();
  if (sent === '*') return true;
  return [...(sent ?? '').matchAll(/(?:W\/)?("[^"]*")/g)].some(([, known]) => known === tag);
}
