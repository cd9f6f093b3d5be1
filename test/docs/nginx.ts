import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { read } from './code-blocks.js';
import { PATH } from './needing.js';

/**
 * Starts nginx in a folder, with docs/operations/nginx.conf before services at these ports and a certificate made now.
 * It listens on the socket `nginx` of the folder. Resolves to the socket's path, and to what stops it.
 */
export async function startNginx(folder: string, [first, second]: readonly [number, number]) {
  const env = { PATH, HOME: folder };
  const [pem, key, socketPath] = ['pem', 'key', 'nginx'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const subject = ['-nodes', '-days', '2', '-subj', '/CN=animals.example', '-keyout', key, '-out', pem];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject], { env, stdio: 'ignore' });
  const site = read('docs/operations/nginx.conf')
    .replace('127.0.0.1:8081', `127.0.0.1:${first}`)
    .replace('127.0.0.1:8082', `127.0.0.1:${second}`)
    .replace('listen 443', `listen unix:${socketPath}`)
    .replace(/(?<=ssl_certificate )\S+(?=;)/, pem)
    .replace(/(?<=ssl_certificate_key )\S+(?=;)/, key);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const http = `http { access_log off; ${paths.join(' ')}\n${site} }`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `${user} daemon off; pid ${folder}/pid; events {} ${http}`);
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const told = text(child.stderr);
  const kill = (): void => void child.kill();
  process.on('exit', kill);
  while (child.exitCode === null && !(await accepts(socketPath))) await delay(20);
  if (child.exitCode !== null) throw new Error(`nginx does not start: ${await told}`);
  return {
    socketPath,
    async stop(): Promise<void> {
      process.off('exit', kill);
      child.kill('SIGQUIT');
      await told;
    },
  };
}

/** Whether somebody listens there. */
const accepts = (socketPath: string): Promise<boolean> => {
  const socket = connect(socketPath);
  const connected = once(socket, 'connect').then(() => true);
  return connected.catch(() => false).finally(() => socket.destroy());
};
