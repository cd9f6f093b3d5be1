/** Characters that tell codecs apart: digits, letters of both cases, and what is special to some of them. */
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~+/= \0é\ud800';

/** The text with one character changed, left out or doubled at each place, or one put in at each. */
export const alterations = (text: string): readonly string[] =>
  Array.from({ length: text.length + 1 }, (_, place) => {
    const before = text.slice(0, place);
    const at = text.charAt(place);
    const after = text.slice(place + 1);
    return [
      before + after,
      before + at + at + after,
      ...Array.from({ length: ALPHABET.length }, (_, index) => before + ALPHABET.charAt(index) + after),
      ...['0', 'a', '_', ' '].map((extra) => before + extra + at + after),
    ];
  })
    .flat()
    .filter((altered) => altered !== text);

/** Every text in a value: in its properties, the hidden ones of errors too, and in sets and maps, at any depth. */
export function textsOf(value: unknown, seen = new Set<unknown>()): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const inside: unknown[] = Object.getOwnPropertyNames(value).map((name) => Reflect.get(value, name));
  if (value instanceof Set || value instanceof Map) inside.push(...value);
  return inside.flatMap((part) => textsOf(part, seen));
}
