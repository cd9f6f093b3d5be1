/** A value as short text, which shows its type: 7, 7n and "7" differ. */
export function shown(value: unknown): string {
  const text = textOf(value, 0);
  return text.length > 600 ? `${text.slice(0, 600)}...` : text;
}

function textOf(value: unknown, depth: number): string {
  if (typeof value === 'object' && value !== null) return textOfObject(value, depth);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'function' ? 'a function' : String(value);
}

function textOfObject(value: object, depth: number): string {
  if (value instanceof Error || value instanceof Date) return String(value);
  if (value instanceof Uint8Array) return JSON.stringify(new TextDecoder().decode(value));
  if (depth > 5) return '...';
  if (Array.isArray(value) || value instanceof Set) {
    const parts = [...(value as Iterable<unknown>)];
    const texts = parts.slice(0, 5).map((part) => textOf(part, depth + 1));
    if (parts.length > 5) texts.push(`${parts.length - 5} more`);
    return `[${texts.join(', ')}]`;
  }
  const members = Object.entries(value).map(
    ([name, part]) => `${name}: ${textOf(part, depth + 1)}`,
  );
  return members.length > 0 ? `{ ${members.join(', ')} }` : '{}';
}
