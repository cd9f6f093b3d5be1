export const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Animal Store</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
  <div id="docs"></div>
  <script src="docs/swagger-ui-bundle.js"></script>
  <script src="docs/start.js"></script>
</body>
</html>
`;

/**
 * Starts Swagger UI, without highlighting, which is slow for large responses. Swagger UI parses responses with
 * JSON.parse, which rounds integers beyond 2^53: where the browser has rawJSON, the script keeps their digits.
 */
export const START_SCRIPT = `{
  const { parse, rawJSON } = JSON;
  const keepLarge = (_name, value, { source }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? rawJSON(source) : value;
  if (rawJSON) JSON.parse = (text, reviver = keepLarge) => parse(text, reviver);
}
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  docExpansion: 'full',
  tryItOutEnabled: true,
  syntaxHighlight: false,
});
`;
