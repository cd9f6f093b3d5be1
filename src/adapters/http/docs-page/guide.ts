import type { HttpSettings } from '../http-settings.js';

/** What every client of the service needs to know: paragraphs by their title, with code in backticks. */
export const guide = ({
  bodyLimit,
  rateLimit,
  experimental,
}: HttpSettings): Readonly<Record<string, readonly string[]>> => ({
  Keys: [
    'Every operation needs an API key. Send it as `Authorization: Bearer <API_KEY>`; the service looks nowhere else. ' +
      'A key with the scope `pets:read` may list and get animals, a key with `pets:write` may add them.',
    ...(experimental.length > 0
      ? ['To change an animal a key needs `pets:write`, to remove one `pets:delete`.']
      : []),
  ],
  'Large integers': [
    '`id` and `categoryId` are 64-bit integers, exact to the last digit. This page shows and sends them exactly; ' +
      'check that your JSON library does too.',
    'JavaScript: `JSON.parse` silently rounds beyond ±9007199254740991. Use a parser that returns `bigint`, such as ' +
      '`parse` of `animal-store`, or the `AnimalStoreClient` of `animal-store/client`.',
    'Java, Kotlin, C#, Go, Rust, Swift: declare a 64-bit integer (`long`, `int64`, `i64`), never a `double` or an ' +
      'untyped map. Python and Ruby are exact; PHP is exact on 64-bit systems.',
  ],
  Pages: [
    'A list is a JSON array. If there are more animals, the response has a header `Link: <URL>; rel="next"`. ' +
      'Request that URL unchanged. The last page has no such link; a short page is not always the last one.',
  ],
  Retries: [
    'Retry a GET at any time; after a 503, wait as many seconds as `Retry-After` says. A POST that gets no response, ' +
      'or a 500 or 503, may have added the animal. Retry it with the same `Idempotency-Key`: the service adds the ' +
      'animal only once.',
    ...(rateLimit
      ? [
          `An API key may send ${rateLimit.requests} requests in ${rateLimit.seconds} s. \`RateLimit\` says how many ` +
            'remain (`r`) and after how many seconds the limit starts anew (`t`). Beyond it you get 429: nothing was ' +
            'stored, and `Retry-After` says when to retry.',
        ]
      : []),
    'If a response surprises you, send its `X-Request-Id` to the operator: it identifies the request in the log.',
  ],
  Requests: [
    `A body is one JSON object in UTF-8, uncompressed, at most ${bodyLimit} bytes, with \`Content-Type: application/json\`. ` +
      'The service ignores unknown members and unknown query parameters. Paths are case-sensitive and have no slash at the end.',
    'Responses to GET have an `ETag`. Send it in `If-None-Match`: if nothing has changed, the response is 304 without a body. ' +
      'Every path supports `OPTIONS`, without a key, and `HEAD` where it supports `GET`.',
  ],
  Deprecation: [
    'A deprecated operation works until its removal. Its responses carry `Deprecation` (RFC 9745), `Sunset` (RFC 8594) ' +
      'and a `Link` with `rel="successor-version"`. After its removal it returns 410 `operation_removed`.',
  ],
});
