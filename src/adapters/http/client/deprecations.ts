import type { OperationId } from '../operations.js';
import { readHttpDate } from './http-date.js';
import { linkTarget } from './link-header.js';

/** What the service says of an operation that it wants nobody to use any more. */
export interface DeprecationNotice {
  /** Which operation that is. */
  readonly operation: OperationId;
  /** Since when, or from when on, it is deprecated (RFC 9745); `undefined` if that cannot be read. */
  readonly since: Date | undefined;
  /** When it may be gone (RFC 8594). */
  readonly sunset: Date | undefined;
  /** Where its successor is (RFC 5829). */
  readonly successor: string | undefined;
}

/** Tells of each deprecated operation, the first time that an answer says so. */
export class Deprecations {
  readonly #tell: (notice: DeprecationNotice) => void;
  readonly #told = new Set<OperationId>();

  constructor(tell: (notice: DeprecationNotice) => void) {
    this.#tell = tell;
  }

  look(operation: OperationId, headers: Headers, url: string): void {
    const deprecation = headers.get('deprecation');
    if (deprecation === null || this.#told.has(operation)) return;
    this.#told.add(operation);
    this.#tell({
      operation,
      since: readStructuredDate(deprecation),
      sunset: readHttpDate(headers.get('sunset') ?? ''),
      successor: linkTarget(headers.get('link') ?? '', 'successor-version', url)?.href,
    });
  }
}

/** A Date of Structured Fields (RFC 9651, 3.3.7), its parameters left out. */
function readStructuredDate(text: string): Date | undefined {
  const [, seconds] = /^@(-?\d{1,15})(?:;.*)?$/.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
