import type { HttpSettings } from '../http-settings.js';

/** What a client's author has to know of all operations, in Markdown: the description of the whole document. */
export const guide = ({
  bodyLimit,
}: HttpSettings): string => `The catalogue of the animals that a store offers: \
list them, add one, fetch one.

## Keys

Every operation needs an API key, sent as a bearer token: \`Authorization: Bearer <API_KEY>\`. A key may read \
(\`pets:read\`), add (\`pets:write\`) or both. A key counts in this header only.

## Integers

\`id\` and \`categoryId\` are 64-bit integers, from -9223372036854775808 to 9223372036854775807, and exact to \
the last digit in both directions. JSON can carry them, but not every reader of JSON keeps them:

- **JavaScript, TypeScript**: \`JSON.parse\` rounds beyond ±9007199254740991 without a word, and \
\`JSON.stringify\` refuses a \`bigint\`. Use a parser that gives \`bigint\`, such as \`parse\` and \`stringify\` of \
\`animal-store\`, or the \`AnimalStoreClient\` of \`animal-store/client\`.
- **Java, Kotlin, C#, Go, Rust, Swift**: declare \`long\`, \`Long\`, \`int64\`, \`i64\`, \`Int64\`. Do not go through a \
\`double\` or an untyped map (Go: \`UseNumber\`).
- **Python, Ruby**: exact as it is. **PHP**: exact where integers have 64 bits.

## Pages

A list is a bare array. While there are more animals, the answer carries \`Link: <URL>; rel="next"\` (RFC 8288). \
Follow that URL as it is; do not build one. The end is where no such link is, not where a page is short.

## Errors

Every error is an object of \`code\`, \`message\` and \`status\`, the last repeating the HTTP status. Decide by \`code\`: \
a code that is published keeps its meaning, and each response names those it can have (\`x-error-codes\`). The \`message\` is for people, \
and its wording may change. Tell the operator the \`X-Request-Id\` of an answer that you did not expect.

Answers of 503 carry \`Retry-After\`. A GET can be repeated at any time. A POST that got no answer, or one of 500 or \
503, may have stored the animal: repeat it with the \`Idempotency-Key\` that it was sent with, and the animal is there \
once. Without one, repeating may add it twice.

## Caching

Answers to GET carry an \`ETag\`. Sent back in \`If-None-Match\`, it is answered 304, without a body, while nothing \
has changed.

## Requests

A body is one JSON object in UTF-8 of at most ${bodyLimit} bytes, sent as \`application/json\`, not compressed. \
Unknown members and unknown query parameters are ignored. Paths are exact: no slash at the end, and case matters. \
Every path answers to \`OPTIONS\` with \`Allow\`, without a key; \`HEAD\` is answered as \`GET\`, without the body; any other \
method that a path does not have is 405 \`method_not_allowed\`, and any other path 404 \`route_not_found\`.

## Deprecation

A deprecated operation is marked as such here, and each of its answers carries \`Deprecation\` (RFC 9745), \`Sunset\` \
(RFC 8594) and a \`Link\` with \`rel="successor-version"\`. It keeps working until it is removed, after which it answers \
410 \`operation_removed\`.
`;
