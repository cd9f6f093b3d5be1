/** A piece of HTML. Only `markup` makes one, so that every text in it is escaped. */
export interface Markup {
  readonly html: string;
}

export type Content = Markup | string | number | undefined | false | readonly Content[];

/** HTML with its values filled in. Escapes texts, joins lists, and omits `undefined` and `false`. */
export const markup = (strings: TemplateStringsArray, ...values: readonly Content[]): Markup => ({
  html: String.raw({ raw: strings }, ...values.map(htmlOf)),
});

function htmlOf(value: Content): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'object') return 'html' in value ? value.html : value.map(htmlOf).join('');
  return String(value).replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A text with code in backticks. */
export const prose = (text: string): Content =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : markup`<code>${part}</code>`));

/** An HTTP method, coloured by its name. */
export const methodView = (method: string): Markup =>
  markup`<b class="method is-${method}">${method}</b>`;

/** An HTTP status, coloured by its class. */
export const statusView = (status: number): Markup =>
  markup`<b class="is-${Math.floor(status / 100)}xx">${status}</b>`;
