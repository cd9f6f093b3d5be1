/** Whether a text shows nothing: each of its characters has the Unicode property White_Space. */
export const isBlank = (text: string): boolean => /^\p{White_Space}*$/u.test(text);

/** Whether a text has more than `length` Unicode code points. Counts no more of a long text than necessary. */
export function isLongerThan(text: string, length: number): boolean {
  // A code point takes one or two units.
  const counted = text.slice(0, 2 * length + 1);
  return counted.length > length && Array.from(counted).length > length;
}

/** The rule that a text breaks if stores could change it: they cut it at U+0000, and replace lone surrogates. */
export function storedTextFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  if (!text.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}
