/** The request's own id if it is a safe one (1 to 128 of `A-Za-z0-9._-`), else a new one: a random UUID. */
export const requestId = (sent?: string): string =>
  sent !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : crypto.randomUUID();

/** What every answer carries, whoever gives it. */
export const commonHeaders = (id: string): Readonly<Record<string, string>> => ({
  'X-Request-Id': id,
  'X-Content-Type-Options': 'nosniff',
});
