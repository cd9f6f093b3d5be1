/**
 * Lines of columns as wide as they have to be, below a line of titles. What a terminal would obey or show as
 * something else (controls, also those of the direction of text) becomes U+FFFD.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map(printable));
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const aligned = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return lines.map((cells) => `${aligned(cells)}\n`).join('');
}

const printable = (cell: string): string =>
  cell.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd').toWellFormed();
