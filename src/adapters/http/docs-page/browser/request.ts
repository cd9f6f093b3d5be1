/** A field of a form, for a parameter or the body of the request. */
export interface Field {
  readonly name: string;
  readonly value: string;
  readonly dataset: { readonly in?: string | undefined };
}

/** A request without its API key, for `fetch` and for the sample. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Array<[name: string, value: string]>;
  readonly body: string | null;
}

/** Why these texts cannot be sent: no request can carry half of a surrogate pair. */
export function unsendable(fields: readonly Field[]): string | undefined {
  const halved = fields.find(({ value }) => !value.isWellFormed());
  return halved && `${halved.name} contains half a character (a lone surrogate): remove it.`;
}

/**
 * The request of an operation. Empty fields of the query and the headers are not sent.
 * @param path below `baseUrl`, with parameters in braces
 * @param baseUrl without a slash at its end
 */
export function prepareRequest(
  method: string,
  path: string,
  baseUrl: string,
  fields: readonly Field[],
): PreparedRequest {
  const filled = (place: string): Array<[string, string]> =>
    fields
      .filter(({ dataset, value }) => dataset.in === place && value !== '')
      .map(({ name, value }) => [name, value]);
  const target = filled('path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, () => encodeURIComponent(value)),
    `${baseUrl}${path}`,
  );
  const query = new URLSearchParams(filled('query'));
  const body = fields.find(({ dataset }) => dataset.in === 'body')?.value ?? null;
  const headers = filled('header');
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  return { method, url: query.size > 0 ? `${target}?${query}` : target, headers, body };
}

/** What a response leads to, at the address that it came from: the next page of a list, or the animal that was added. */
export function linkedFrom(
  url: string,
  headers: Pick<Headers, 'get'>,
): { text: string; request: PreparedRequest } | undefined {
  const request = { method: 'GET', headers: [], body: null };
  const [, id] = /\/([^/]+)$/.exec(headers.get('Location') ?? '') ?? [];
  if (id) return { text: 'Get this animal', request: { ...request, url: `${url}/${id}` } };
  const [, query] = /\?([^<>]*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  const [path] = url.split('?');
  return query
    ? { text: 'Next page', request: { ...request, url: `${path}?${query}` } }
    : undefined;
}

/** The request as a command for a POSIX shell, with the API key in the variable API_KEY. */
export function curlSample({ method, url, headers, body }: PreparedRequest): string {
  const parts = [`curl ${quoted(url)}`, '-H "Authorization: Bearer $API_KEY"'];
  if (method !== (body === null ? 'GET' : 'POST')) parts.push(`-X ${method}`);
  for (const [name, value] of headers) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  // --data would read a file if the body began with @.
  if (body !== null) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
