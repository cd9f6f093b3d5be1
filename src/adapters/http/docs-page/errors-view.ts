import { ERRORS, type ErrorCode, type ErrorDescription } from '../error-codes.js';
import { markup, prose, type Content, type Markup } from './markup.js';

/** Every error code, by status. */
export function errorsView(): Markup {
  const rows = Object.entries<ErrorDescription>(ERRORS).map(
    ([code, { status, message, meaning = message }]) => markup`<div id="${code}">
      <dt>${statusView(status)} <code><b>${code}</b></code></dt>
      <dd><p>${prose(meaning)}</p></dd>
    </div>`,
  );
  return markup`<dl class="members">${rows}</dl>`;
}

/** The codes of an operation with links to their meanings, in a row for each status. */
export const errorLinks = (codes: readonly ErrorCode[]): Content =>
  [...Map.groupBy(codes, (code) => ERRORS[code].status)].map(
    ([status, codes]) => markup`<dt>${statusView(status)}</dt><dd>${links(codes)}</dd>`,
  );

export const statusView = (status: number): Markup =>
  markup`<b class="is-${Math.floor(status / 100)}xx">${status}</b>`;

const links = (ids: readonly string[]): Content =>
  ids.map((id, index) => [index > 0 && ', ', markup`<a href="#${id}"><code>${id}</code></a>`]);
