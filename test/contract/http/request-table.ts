import type { Row } from './request-row.js';
import { AUTHENTICATION } from './request-table-authentication.js';
import { BODIES } from './request-table-bodies.js';
import { BODY_HEADERS } from './request-table-body-headers.js';
import { DOCS } from './request-table-docs.js';
import { DOCUMENT } from './request-table-document.js';
import { FIELDS } from './request-table-fields.js';
import { GETTING } from './request-table-getting.js';
import { CONDITIONAL } from './request-table-conditional.js';
import { CROSS_ORIGIN } from './request-table-cross-origin.js';
import { IDEMPOTENCY } from './request-table-idempotency.js';
import { LISTING } from './request-table-listing.js';
import { MALFORMED } from './request-table-malformed.js';
import { MESSAGES } from './request-table-messages.js';
import { ORDER_OF_CHECKS } from './request-table-order.js';

/** The HTTP contract, a row a promise, by what the rows are about. */
export const REQUEST_TABLE: Readonly<Record<string, readonly Row[]>> = {
  'authentication and scopes': AUTHENTICATION,
  'the order of checks': ORDER_OF_CHECKS,
  'listing animals': LISTING,
  'getting an animal': GETTING,
  'the fields of a new animal': FIELDS,
  'request bodies': BODIES,
  'what is said of request bodies': BODY_HEADERS,
  'creating an animal once': IDEMPOTENCY,
  'conditional reads': CONDITIONAL,
  'pages of other origins': CROSS_ORIGIN,
  'the docs page': DOCS,
  'methods, headers and faults of the service': MESSAGES,
  'the published description': DOCUMENT,
  'messages that are not well-formed': MALFORMED,
};

export const ROWS: readonly Row[] = Object.values(REQUEST_TABLE).flat();
