import type { Command, Term } from './command.js';

/** Every setting there is, as the README has them; defaults in parentheses. */
const SETTINGS: readonly Term[] = [
  ['HOST', 'the address to listen on (127.0.0.1)'],
  ['PORT', 'the port, 0 for a free one (8080)'],
  ['BASE_PATH', 'the path of the operations, ending in v1 (/v1)'],
  ['PUBLIC_URL', 'the address that clients use, ending in v1'],
  ['STAGING_URL', 'the address of the staging environment'],
  ['STORE_URL', 'sqlite:PATH, mongodb://..., memory:, or that of an adapter (sqlite:data/animal-store.db)'],
  ['ADAPTERS', 'modules of adapters, by comma'],
  ['API_KEYS', 'static keys, by comma or line, beside the managed ones'],
  ['API_KEY', 'as API_KEYS'],
  ['API_KEYS_FILE', 'a file of them'],
  ['KEY_ENVIRONMENT', 'the word in managed keys (live)'],
  ['BODY_LIMIT', 'the largest request body, up to 16mb (256kb)'],
  ['REQUEST_DEADLINE', 'how long a request may take (5s)'],
  ['MAX_IN_FLIGHT', 'how many requests are worked on at once (256)'],
  ['DRAIN_DELAY', 'how long requests are taken after the signal to stop (0s on a loopback host, else 5s)'],
  ['SHUTDOWN_DEADLINE', 'how long stopping may take after that (25s)'],
  ['DEPRECATED_SINCE', 'since when getPet is deprecated (2026-11-20)'],
  ['GET_PET', 'on, or off to answer 410 to it (on)'],
  ['CORS_ORIGINS', 'origins whose web pages may use it, by comma; or *'],
  ['LOG_LEVEL', 'trace, debug, info, warn, error, fatal or silent (info)'],
  ['LOG_FORMAT', 'pretty, json, or auto: pretty on a terminal (auto)'],
];

export const serve: Command = {
  name: 'serve',
  summary:
    'Runs the service until Ctrl-C or SIGTERM. Its settings are environment variables, shown with their defaults.',
  example: 'PORT=8080 STORE_URL=sqlite:data/animal-store.db animal-store serve',
  usage: 'serve',
  options: {},
  terms: [],
  settings: SETTINGS,
  run: (operations) => operations.serve(),
};
