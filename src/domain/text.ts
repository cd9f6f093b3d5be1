/** Whether a text is empty, or all of its characters have the Unicode property White_Space. */
export const isBlank = (text: string): boolean => /^\p{White_Space}*$/u.test(text);

/** Whether a text has more than `length` Unicode code points. */
export function isLongerThan(text: string, length: number): boolean {
  // Counts only the beginning of a long text. A code point has one or two units.
  const counted = text.slice(0, 2 * length + 1);
  return counted.length > length && Array.from(counted).length > length;
}

/** The rule that a text breaks, or `undefined`. Databases may cut a text at U+0000, or replace lone surrogates. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  if (!text.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}
