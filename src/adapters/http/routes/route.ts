import type { Principal, Scope } from '../../../application/ports/authenticator.js';
import type { Deadline } from '../deadline.js';
import type { HttpAnswer, HttpRequest } from '../http-message.js';

/** A call of a deprecated operation with a valid key. */
export interface DeprecatedCall {
  /** The operation's id in the interface: `getPet`. */
  readonly operationId: string;
  /** Identifies the key without revealing it. */
  readonly keyId: string;
  /** When the operation will be removed. */
  readonly sunset: Date;
}

/** A path that is served, and what it answers to. Transports match paths, and leave methods to the interface. */
export interface Route {
  /** The whole path; a parameter, one segment, stands in braces. */
  readonly path: string;
  /** By method; HEAD and OPTIONS follow from the others. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Whether it is served without a key. */
  readonly open: boolean;
  /** Go with every answer of the route. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What one method of a route does. Made and used by `HttpInterface`; transports leave it alone. */
export interface Endpoint {
  /** Never refused for being busy: who asks wants to know just that. */
  readonly alwaysServed?: boolean;
  /** Why it is no longer served. */
  readonly removed?: string | undefined;
  /** What a key needs. */
  readonly scope?: Scope;
  /** It is deprecated: who calls it is to be known. */
  readonly deprecated?: Pick<DeprecatedCall, 'operationId' | 'sunset'> | undefined;
  answer(exchange: Exchange): Promise<HttpAnswer>;
}

/** A request on its way through the interface. */
export interface Exchange {
  readonly request: HttpRequest;
  /** Of the path, as sent, percent-encoding and all. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly deadline: Deadline;
  /** Known once the key was judged; never for open routes. */
  principal?: Principal;
}

export const endpointFor = (route: Route | undefined, method: string): Endpoint | undefined =>
  route?.endpoints.get(method === 'HEAD' ? 'GET' : method);

/** The value of an Allow header (RFC 9110, 10.2.1). */
export function allowedMethods({ endpoints }: Route): string {
  const methods = [...endpoints.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}
