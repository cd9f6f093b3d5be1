import { ERROR_STATUS, type ErrorCode } from '../error-responses.js';
import { ERROR_DESCRIPTIONS } from '../open-api/error-descriptions.js';
import { markup, prose, type Content, type Markup } from './markup.js';

/** Every error code, by status. */
export function errorsView(): Markup {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  const rows = codes
    .sort((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b])
    .map(
      (code) => markup`<div id="${code}">
      <dt>${statusView(ERROR_STATUS[code])} <code><b>${code}</b></code></dt>
      <dd><p>${prose(ERROR_DESCRIPTIONS[code].meaning)}</p></dd>
    </div>`,
    );
  return markup`<dl class="members">${rows}</dl>`;
}

/** The codes of an operation with links to their meanings, in a row for each status. */
export const errorLinks = (codes: readonly ErrorCode[]): Content =>
  [...Map.groupBy(codes, (code) => ERROR_STATUS[code])].map(
    ([status, codes]) => markup`<dt>${statusView(status)}</dt><dd>${links(codes)}</dd>`,
  );

export const statusView = (status: number): Markup =>
  markup`<b class="is-${Math.floor(status / 100)}xx">${status}</b>`;

const links = (ids: readonly string[]): Content =>
  ids.map((id, index) => [index > 0 && ', ', markup`<a href="#${id}"><code>${id}</code></a>`]);
