import { expect } from 'chai';
import { apiKeyState } from '../../../src/adapters/api-keys/api-key-state.js';

const now = new Date();
const before = new Date(now.getTime() - 1);
const after = new Date(now.getTime() + 1);
const never = new Date(Number.NaN);

describe('The state of a key', () => {
  it('is active for ever when nothing ends it', () => {
    expect(apiKeyState({}, now)).to.equal('active');
    expect(apiKeyState({ expiresAt: undefined, revokedAt: undefined }, new Date(8.64e15))).to.equal('active');
  });

  it('is active one millisecond before it expires, expired at that instant and after', () => {
    expect(apiKeyState({ expiresAt: after }, now)).to.equal('active');
    expect(apiKeyState({ expiresAt: now }, now)).to.equal('expired');
    expect(apiKeyState({ expiresAt: before }, now)).to.equal('expired');
  });

  it('is revoked by a revocation at any time, even one that this clock has yet to reach', () => {
    expect(apiKeyState({ revokedAt: after }, now)).to.equal('revoked');
    expect(apiKeyState({ revokedAt: now }, now)).to.equal('revoked');
    expect(apiKeyState({ revokedAt: before }, now)).to.equal('revoked');
  });

  it('is revoked when it is both', () => {
    expect(apiKeyState({ expiresAt: before, revokedAt: now }, now)).to.equal('revoked');
    expect(apiKeyState({ expiresAt: now, revokedAt: after }, now)).to.equal('revoked');
  });

  it('is never active by a time that is no time', () => {
    expect(apiKeyState({ expiresAt: never }, now)).to.equal('expired');
    expect(apiKeyState({ revokedAt: never }, now)).to.equal('revoked');
    expect(apiKeyState({ expiresAt: after }, never)).to.equal('expired');
  });
});
