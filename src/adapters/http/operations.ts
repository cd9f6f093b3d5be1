import type { Scope } from '../../application/ports/authenticator.js';

/** What the interface says of each operation: routing, authorisation and deprecation all follow from here. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Below the base path; a parameter stands in braces. */
  readonly path: '/pets' | '/pets/{petId}';
  /** What a key needs to call it. */
  readonly scope: Scope;
  readonly deprecation?: Deprecation;
}

export interface Deprecation {
  /** The day on which the operation is to be removed (RFC 8594), at 00:00 UTC. */
  readonly sunset: Date;
  /** Where the operation's successor is, below the base path. */
  readonly successor: string;
}

export const OPERATIONS = {
  listPets: { method: 'GET', path: '/pets', scope: 'pets:read' },
  createPet: { method: 'POST', path: '/pets', scope: 'pets:write' },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    scope: 'pets:read',
    deprecation: { sunset: new Date('2030-12-05T00:00:00Z'), successor: '/pets?status=available' },
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/**
 * The headers of every answer of a deprecated operation's route: when it became deprecated (RFC 9745, a
 * Structured Field Date), when it goes (RFC 8594, an HTTP-date), and what replaces it (RFC 5829).
 */
export const deprecationHeaders = (
  { sunset, successor }: Deprecation,
  since: Date,
  baseUrl: string,
): Readonly<Record<string, string>> => ({
  Deprecation: `@${Math.floor(since.getTime() / 1000)}`,
  Sunset: sunset.toUTCString(),
  Link: `<${baseUrl}${successor}>; rel="successor-version"`,
});
