// The service on a plain server of node:http, without the gates of NodeServer: for `hostile --listener plain`, which
// shows what they are for. Prints its address as the service does.
import { createServer } from 'node:http';
import process from 'node:process';
import { TOKENS, createContainer, readSettings } from '../../build/src/bootstrap/index.js';

const container = await createContainer(readSettings(process.env));
const { basePath } = container.get(TOKENS.settings);
const server = createServer(await container.getAsync(TOKENS.requestListener));
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}${basePath}`;
  process.stderr.write(`${JSON.stringify({ url })}\n`);
});
process.on('SIGTERM', () => process.exit());
