/** A field of the form, for a parameter. */
export interface Field {
  readonly name: string;
  readonly in: string;
  readonly value: string;
}

/** A request without its API key, for `fetch` and for the sample. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body?: string | undefined;
}

/** Why these texts cannot be sent: no request can carry half of a surrogate pair. */
export function unsendable(
  fields: ReadonlyArray<Pick<Field, 'name' | 'value'>>,
  body = '',
): string | undefined {
  const halved = [...fields, { name: 'body', value: body }].find(
    ({ value }) => !value.isWellFormed(),
  );
  return halved && `${halved.name} contains half a character (a lone surrogate): remove it.`;
}

/**
 * The request of an operation. Empty fields of the query and the headers are not sent.
 * @param target method, and path below `baseUrl` with parameters in braces
 * @param baseUrl without a slash at its end
 */
export function prepareRequest(
  { method, path }: { readonly method: string; readonly path: string },
  baseUrl: string,
  fields: readonly Field[],
  body: string | undefined,
): PreparedRequest {
  const filled = (place: string): readonly Field[] =>
    fields.filter((field) => field.in === place && field.value !== '');
  const query = filled('query').map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  const headers = filled('header').map(({ name, value }) => [name, value] as const);
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(fields.find((field) => field.name === name)?.value ?? ''),
  );
  return {
    method,
    url: `${baseUrl}${target}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: body === undefined ? headers : [...headers, ['Content-Type', 'application/json']],
    body,
  };
}

/** The request as a command for a POSIX shell, with the API key in the variable API_KEY. */
export function curlSample({ method, url, headers, body }: PreparedRequest): string {
  const parts = [`curl ${quoted(url)}`, '-H "Authorization: Bearer $API_KEY"'];
  if (method !== (body === undefined ? 'GET' : 'POST')) parts.push(`-X ${method}`);
  for (const [name, value] of headers) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  // --data would read a file if the body began with @.
  if (body !== undefined) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
