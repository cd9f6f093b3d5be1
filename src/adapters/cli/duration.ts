const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time in milliseconds: `500ms`, `5s`, `2m`, `24h`, `90d`, or `0`; a day has 24 hours. */
export function readDuration(text: string): number {
  const { amount, unit } = /^(?<amount>\d{1,9})(?<unit>ms|s|m|h|d)$/.exec(text)?.groups ?? {};
  if (text === '0') return 0;
  if (amount === undefined) throw new Error('must be a duration like 500ms, 5s, 2m, 24h or 90d');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}
