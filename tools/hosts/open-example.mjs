// How each example is started for the checks.
import { SITUATIONS } from 'animal-store/contract';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { sendBy } from './client.mjs';
import { KEY, startHere, startProcess, wire } from './start-host.mjs';
import { STEPS } from './steps.mjs';
import { workerdStarters } from './workerd.mjs';

/**
 * The example of a host: its entry in the table, and `start(setup)`. A setup has `situation` or `fails` of `wire`; `step`,
 * the name of what runs earlier; `path`, where it is mounted; and `options` of the example itself.
 */
export async function openExample(host, file, { runtime = 'node', steps, examples }) {
  const entry = { paths: [''], steps, ...examples[file], name: `${host}/${file}` };
  const startExample =
    COMMANDS[runtime] &&
    (() => startProcess([...COMMANDS[runtime], '../start.mjs', host, file], ENV));
  return { startExample, ...entry, ...(await STARTERS[runtime](file, entry)) };
}

const load = (file) => import(pathToFileURL(join(process.cwd(), file)).href);

/** How each runtime runs a file. */
const COMMANDS = {
  node: [process.execPath],
  bun: ['node_modules/.bin/bun'],
  deno: ['node_modules/.bin/deno', 'run', '--node-modules-dir=manual', '--allow-all'],
};
const ENV = { env: { ...process.env, API_KEY: KEY, PORT: '0' } };

const STARTERS = {
  async node(file, { steps }) {
    const example = await load(`${file}.mjs`);
    const known = (await STEPS[steps]?.()) ?? {};
    const start = ({ step, options, ...setup }) => {
      const { listen, ...middleware } = known[step] ?? {};
      const before = typeof known[step] === 'function' ? [known[step]] : [];
      const all = {
        ...middleware.options,
        ...options,
        before: [...before, ...(options?.before ?? [])],
      };
      return startHere(listen ?? example.listen, { ...setup, options: all });
    };
    return { start };
  },
  async lambda(file) {
    const { lambdaHandler } = await load(`${file}.mjs`);
    const fetches = (http) => fetchOf(lambdaHandler(http));
    const start = async (setup) => {
      const { http, faults } = await wire(setup);
      const send = sendBy(fetches(http));
      return { url: `${ADDRESS}${http.settings.basePath}`, faults, send, stop: async () => {} };
    };
    const startExample = async () => {
      process.env.API_KEY = KEY;
      const { handler } = await load('function.mjs');
      return { url: `${ADDRESS}/v1/pets`, send: sendBy(fetchOf(handler)), stop: async () => {} };
    };
    return { start, fetches, startExample };
  },
  workerd: workerdStarters,
  bun: (file) => remote([...COMMANDS.bun, 'checks/remote.mjs', `../${file}.mjs`]),
  deno: (file) => remote([...COMMANDS.deno, 'checks/remote.mjs', `../${file}.mjs`]),
};

const remote = (command) => ({
  start: ({ situation, fails, step }) => {
    const { basePath } = SITUATIONS[situation]?.settings ?? {};
    return startProcess([...command, JSON.stringify({ situation, fails, step })], { basePath });
  },
});

const ADDRESS = 'https://animals.example';

/** A Lambda function as a function from Request to Response, by the events of API Gateway (version 2.0). */
const fetchOf = (handler) => async (request) => {
  const { pathname, search } = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const event = {
    version: '2.0',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(request.headers),
    requestContext: { http: { method: request.method, path: pathname, sourceIp: '192.0.2.1' } },
    ...(body.length > 0 && { body: body.toString('base64'), isBase64Encoded: true }),
  };
  const { statusCode: status, headers, body: text, isBase64Encoded } = await handler(event, {});
  const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304;
  return new Response(hasBody ? Buffer.from(text, isBase64Encoded ? 'base64' : 'utf8') : null, {
    status,
    headers,
  });
};
