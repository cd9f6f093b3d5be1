// The requests that the attacks of `hostile` send, as text.

export const KEYS = ['first-key-of-the-attack', 'second-key-of-the-attack'];
/** The name of an animal that no create may add. */
export const HIDDEN = 'hidden';

/** A request line and headers. */
export const head = (line, ...headers) =>
  [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');

const authorized = (line, ...headers) => head(line, `Authorization: Bearer ${KEYS[0]}`, ...headers);

/** The head of a create. */
export const post = (...headers) =>
  authorized('POST /v1/pets', 'Content-Type: application/json', ...headers);

export const LONGEST_PAGE = authorized('GET /v1/pets?limit=100');

/** 127 KB of requests without a key. */
export const FLOOD =
  head('GET /openapi.json').repeat(60) + 'GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(5_000);

const READ_HEADERS =
  'Accept Authorization Content-Type Expect Idempotency-Key If-None-Match Origin Traceparent ' +
  'Transfer-Encoding User-Agent X-Forwarded-For X-Request-Id';

/** Headers that repeat a separator, just short of the limit and far above it. */
export function repeatedSeparators() {
  const values = [' ', ',', ';', '"', '; ', ', ', '\t'].flatMap((separator) =>
    [15_000, 60_000].map((size) => `a${separator.repeat(size / separator.length)}b`),
  );
  return READ_HEADERS.split(' ').flatMap((name) =>
    values.map((value) => post(`${name}: ${value}`)),
  );
}

const [SHOWN, CONCEALED] = ['shown', HIDDEN].map((name) => JSON.stringify({ name, categoryId: 1 }));
const LENGTH = SHOWN.length;

const ENCODINGS = [
  'chunked',
  'Chunked',
  ' chunked',
  'chunked ',
  'chunked,',
  'x, chunked',
  'xchunked',
  'chunked, identity',
  'identity',
  'chunked\x0b',
  '"chunked"',
  'chunked, chunked',
  'chunked\r\nTransfer-Encoding: x',
];
const LENGTHS = [
  `+${LENGTH}`,
  `0x${LENGTH}`,
  `${LENGTH}, ${LENGTH}`,
  `${LENGTH}\r\nContent-Length: 0`,
];
const CHUNK_SIZES = ['0x0', '+0', '-0', ' 0', '0 ', '0;\n', 'G', '', '0\n'];
const HEADERS = [
  'X\rY: z',
  'X: a\n b',
  ' X: y',
  'X\0: y',
  ': y',
  'X: \r\n\tfolded',
  'Content-Length\t: 0',
];

/** Creates with an ambiguous end. After each comes another create. */
export function hiddenCreates() {
  const lengths = [LENGTH, 0, LENGTHS[0]].map((length) => `Content-Length: ${length}`);
  const encoded = ENCODINGS.flatMap((encoding) =>
    lengths
      .map((length) => post(length, `Transfer-Encoding: ${encoding}`))
      .concat(post(`Transfer-Encoding : ${encoding}`)),
  );
  const ambiguous = [
    ...encoded.map((create) => `${create}0\r\n\r\n`),
    ...LENGTHS.map((length) => post(`Content-Length: ${length}`) + SHOWN),
    ...CHUNK_SIZES.map((size) => `${post('Transfer-Encoding: chunked')}${size}\r\n\r\n`),
    ...HEADERS.map((header) => post(header, `Content-Length: ${LENGTH}`) + SHOWN),
  ];
  const hidden = post(`Content-Length: ${CONCEALED.length}`) + CONCEALED;
  return ambiguous.map((create) => create + hidden);
}
