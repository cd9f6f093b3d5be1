import type { Row } from './row.js';
import type { ServiceSetup } from './service-parts.js';
import type { TestedService } from './tested-service.js';

/**
 * What a rule depends on: on the interface alone; on the transport, which passes requests and responses on; or on a
 * socket, because no request of Fetch can show it.
 */
export type Layer = 'interface' | 'transport' | 'socket';

/** Rules about one subject, on services that are set up alike. */
export interface Topic extends ServiceSetup {
  readonly topic: string;
  /** Default: `interface`. */
  readonly layer?: Layer;
  /** By name: rows, or what takes several requests to show. Each has a service of its own. */
  readonly rules: Readonly<
    Record<string, readonly Row[] | ((service: TestedService) => Promise<void>)>
  >;
}
