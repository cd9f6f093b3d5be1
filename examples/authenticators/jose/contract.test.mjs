import { describe, it } from 'node:test';
import { authenticatorTests } from 'animal-store/contract';
import { SignJWT, generateKeyPair } from 'jose';
import { JoseAuthenticator } from './jose-authenticator.mjs';

const { publicKey, privateKey } = await generateKeyPair('Ed25519');
const { privateKey: othersKey } = await generateKeyPair('Ed25519');

const PAST = Math.floor(Date.now() / 1000) - 1;
const ISSUER = 'https://accounts.example';

const sign = ({
  scope = 'pets:read',
  jti,
  expires = '1h',
  key = privateKey,
  issuer = ISSUER,
} = {}) =>
  new SignJWT({ scope })
    .setProtectedHeader({ alg: 'Ed25519' })
    .setIssuer(issuer)
    .setAudience('animals')
    .setSubject('ada')
    .setJti(jti ?? 'a token')
    .setExpirationTime(expires)
    .sign(key);

async function open() {
  let isUnreachable = false;
  const findKey = async () => {
    if (isUnreachable) throw new TypeError('fetch failed');
    return publicKey;
  };
  const authenticator = new JoseAuthenticator(findKey, {
    algorithms: ['Ed25519'],
    issuer: ISSUER,
    audience: 'animals',
    isRevoked: (jti) => jti === 'stolen',
  });
  return {
    authenticator,
    accepted: [
      { credential: await sign(), keyId: 'ada', scopes: ['pets:read'] },
      {
        credential: await sign({ scope: 'pets:write pets:read mail' }),
        keyId: 'ada',
        scopes: ['pets:read', 'pets:write'],
      },
    ],
    refused: [
      {
        credential: await sign({ expires: PAST }),
        reason: 'expired',
        keyId: 'ada',
        at: new Date(PAST * 1000),
      },
      { credential: await sign({ jti: 'stolen' }), reason: 'revoked', keyId: 'ada' },
      { credential: await sign({ key: othersKey }), reason: 'unknown' },
      { credential: await sign({ issuer: 'https://elsewhere.example' }), reason: 'unknown' },
    ],
    async loseStore() {
      isUnreachable = true;
    },
    async close() {},
  };
}

describe('JoseAuthenticator', () => authenticatorTests({ describe, it, open }));
