// Accepts signed tokens of your identity provider instead of API keys:
//   ISSUER=https://accounts.example KEYS_URL=https://accounts.example/.well-known/jwks.json AUDIENCE=animals \
//     ADAPTERS=./adapter.mjs npx animal-store serve
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { createRemoteJWKSet } from 'jose';
import { JoseAuthenticator } from './jose-authenticator.mjs';

export const adapter = new ContainerModule(({ rebind }) => {
  const { ISSUER: issuer, KEYS_URL, AUDIENCE: audience } = process.env;
  // Without an audience, tokens for other services would be accepted.
  if (!issuer || !KEYS_URL || !audience)
    throw Object.assign(new Error('Set ISSUER, KEYS_URL and AUDIENCE.'), { isPermanent: true });
  const findKey = createRemoteJWKSet(new URL(KEYS_URL));
  const authenticator = new JoseAuthenticator(findKey, {
    algorithms: ['RS256'], // what your provider signs with
    issuer,
    audience,
  });
  rebind(TOKENS.authenticator).toConstantValue(authenticator);
});
