import { fill, type RawRequest, type RowRequest } from './request-row.js';
import type { Message } from './socket-client.js';

/** The request with everything in double braces replaced; bodies too, if they are text. */
export function fillRequest<R extends RawRequest | RowRequest>(
  request: R,
  values: Readonly<Record<string, string>>,
): R {
  if ('raw' in request) return { ...request, raw: fill(request.raw, values) };
  const { target, headers, body } = request;
  return {
    ...request,
    target: fill(target, values),
    headers: headers.map(([name, value]) => [name, fill(value, values)]),
    ...(typeof body === 'string' ? { body: fill(body, values) } : {}),
  };
}

/** A request as the bytes of an HTTP/1.1 message. */
export function messageOf(request: RawRequest | RowRequest, host: string, answers: number): Message {
  if ('raw' in request) {
    const bytes = Buffer.from(request.raw, 'latin1');
    const methods = Array.from({ length: answers }, () => request.raw.split(' ', 1)[0] ?? '');
    return { bytes, methods };
  }
  const { method, target, headers, body, chunked, awaitsContinue } = request;
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const lines = [`${method} ${target} HTTP/1.1`];
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  if (!has('host')) lines.push(`Host: ${host}`);
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (chunked) lines.push('Transfer-Encoding: chunked');
  else if (content && !has('content-length')) lines.push(`Content-Length: ${content.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const framed = content && chunked ? inChunks(content) : (content ?? Buffer.alloc(0));
  return awaitsContinue
    ? { bytes: head, afterContinue: framed, methods: [method] }
    : { bytes: Buffer.concat([head, framed]), methods: [method] };
}

const CHUNK = 50_000;

function inChunks(content: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < content.length; start += CHUNK) {
    const chunk = content.subarray(start, start + CHUNK);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
