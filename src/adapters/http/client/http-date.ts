/** The three forms that a recipient has to take (RFC 9110, 5.6.7); the last one is in GMT and does not say so. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Reads an HTTP-date. `undefined` for anything else: `Date.parse` alone takes `1.5` for a date. */
export function readHttpDate(text: string): Date | undefined {
  const inGmt = ASCTIME.test(text) ? `${text} GMT` : text;
  if (inGmt === text && !IMF_FIXDATE.test(text) && !RFC_850.test(text)) return undefined;
  const date = new Date(inGmt);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/**
 * How many seconds the server asks to wait (RFC 9110, 10.2.3); `undefined` when it does not say, or says what
 * is no Retry-After. A date is compared with the answer's own, if it has one: clocks differ.
 */
export function readRetryAfter(headers: Headers, now: () => Date): number | undefined {
  const text = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const until = readHttpDate(text);
  if (until === undefined) return undefined;
  const answered = readHttpDate(headers.get('date') ?? '') ?? now();
  return Math.max(0, Math.ceil((until.getTime() - answered.getTime()) / 1000));
}
