import type { Operation, Parameter } from './interface-document.js';

/** What to send, as far as a browser and a command line can be told alike. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body?: string;
}

/**
 * The request of an operation.
 * @param base the address of the operations, with or without a slash at its end
 * @param valueOf what is filled in for a parameter; an optional one that is empty is not sent
 */
export function prepareRequest(
  operation: Operation,
  base: URL,
  valueOf: (parameter: Parameter) => string,
  body?: string,
): PreparedRequest {
  const query: string[] = [];
  const headers: Array<readonly [string, string]> = [];
  let path = operation.path;
  for (const parameter of operation.parameters) {
    const { name, place, required } = parameter;
    const value = valueOf(parameter);
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value === '' && !required) continue;
    else if (place === 'query') query.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    else if (place === 'header') headers.push([name, value]);
  }
  const address = base.href.replace(/\/$/, '') + path;
  const url = query.length > 0 ? `${address}?${query.join('&')}` : address;
  if (operation.body === undefined || body === undefined) return { method: operation.method, url, headers };
  return {
    method: operation.method,
    url,
    headers: [...headers, ['Content-Type', operation.body.mediaType]],
    body,
  };
}

/** A command line for a POSIX shell that sends the request, with the key in the variable KEY. */
export function curlLine({ method, url, headers, body }: PreparedRequest): string {
  const parts = [`curl ${quoted(url)}`, '-H "Authorization: Bearer $KEY"'];
  const implied = body === undefined ? 'GET' : 'POST';
  if (method !== implied) parts.push(`-X ${method}`);
  for (const [name, value] of headers) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  // --data-raw takes a text that begins with @ for what it is.
  if (body !== undefined) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The target of the link with this relation in a Link header (RFC 8288); targets are in angle brackets. */
export function linkTarget(header: string | null, relation: string): string | undefined {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>((?:[^,"]|"[^"]*")*)/g)) {
    const [, quotedText, token] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(parameters) ?? [];
    if ((quotedText ?? token ?? '').toLowerCase().split(/\s+/).includes(relation)) return target;
  }
  return undefined;
}
