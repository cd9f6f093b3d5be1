// Accepts signed tokens of your identity provider instead of API keys:
//   ISSUER=https://accounts.example AUDIENCE=animals ADAPTERS=./adapter.mjs animal-store serve
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { createRemoteJWKSet } from 'jose';
import { JoseAuthenticator } from './jose-authenticator.mjs';

export const adapter = new ContainerModule(({ rebind }) => {
  const { ISSUER: issuer, AUDIENCE: audience } = process.env;
  // Without an audience, tokens for other services would be accepted.
  if (!issuer || !audience) throw new Error('Set ISSUER and AUDIENCE.');
  const findKey = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
  const authenticator = new JoseAuthenticator(findKey, {
    algorithms: ['Ed25519'],
    issuer,
    audience,
  });
  rebind(TOKENS.authenticator).toConstantValue(authenticator);
});
