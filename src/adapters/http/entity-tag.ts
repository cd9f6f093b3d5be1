/** The ETag of a body and its Link. A promise where only Web Crypto is available. */
export function entityTagOf(body: string, link = ''): string | Promise<string> {
  const digest = sha256(`${link}\n${body}`);
  return typeof digest === 'string' ? tagOf(digest) : digest.then(tagOf);
}

/** 22 base64url digits are 132 bits: enough to rule out collisions. */
const tagOf = (digest: string): string => `"${digest.slice(0, 22)}"`;

// For texts this short, Web Crypto takes twenty times as long as Node's own hash.
const { hash } = globalThis['process']?.getBuiltinModule?.('node:crypto') ?? {};

const sha256 = hash ? (text: string) => hash('sha256', text, 'base64url') : webSha256;

async function webSha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}
