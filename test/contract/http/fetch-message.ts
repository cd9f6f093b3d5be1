import type { Answer } from './conversation.js';
import type { RowRequest } from './request-row.js';

/** The request that a runtime makes of such a message: the body a stream, its length in a header if it was announced. */
export function fetchRequest(
  { method, target, headers, body, chunked }: RowRequest,
  { signal }: RequestInit = {},
): Request {
  const sent = new Headers();
  let host = 'animals.test';
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'host') host = value;
    sent.append(name, value);
  }
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  if (content && !chunked && !sent.has('content-length')) sent.set('Content-Length', String(content.length));
  return new Request(`http://${host}${target}`, {
    method,
    headers: sent,
    signal: signal ?? null,
    ...(content && { body: new Blob([content]).stream(), duplex: 'half' }),
  });
}

export async function fetchAnswer(response: Response): Promise<Answer> {
  return {
    status: response.status,
    headers: [...response.headers],
    body: Buffer.from(await response.arrayBuffer()),
  };
}
