/**
 * Authenticates API keys by Web Crypto. `ApiKeyAuthenticator` needs node:crypto: in a Worker, `nodejs_compat`.
 * Each key has an id for logs and its scopes; `refused` says why one is no longer valid: `expired` or `revoked`.
 */
export class WebCryptoKeys {
  #keys;

  constructor(keys) {
    this.#keys = keys;
  }

  async authenticate(credential) {
    const wanted = await sha256(credential);
    for (const { key, keyId, scopes, refused } of this.#keys) {
      // Of digests, a comparison's duration reveals nothing.
      if ((await sha256(key)) !== wanted) continue;
      return refused
        ? { ok: false, reason: refused }
        : { ok: true, principal: { keyId, scopes: new Set(scopes) } };
    }
    return { ok: false, reason: 'unknown' };
  }
}

async function sha256(text) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}
