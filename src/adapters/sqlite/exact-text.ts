/*
 * SQLite's text is UTF-8: it has no lone surrogates, and Node.js 22 reads it only up to the first U+0000.
 * Names of animals hold neither; every other text may, and is kept as JSON text, which writes both as escapes.
 */
export const writeText = (text: string): string => JSON.stringify(text);

export const readText = (text: string): string => String(JSON.parse(text));
