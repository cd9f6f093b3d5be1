import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Child } from '../service/running-service.js';
import { until } from '../until.js';
import { read } from './code-blocks.js';
import { PATH } from './needing.js';

/**
 * Starts nginx in a folder, with docs/operations/nginx.conf before services at these ports and a certificate made now.
 * It listens on the socket at `socketPath`.
 */
export async function startNginx(folder: string, [first, second]: readonly [number, number]) {
  const pem = `${folder}/pem`;
  const key = `${folder}/key`;
  const socketPath = `${folder}/socket`;
  const file = `${folder}/conf`;
  const subject = [
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=animals.example',
    '-keyout',
    key,
    '-out',
    pem,
  ];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject], {
    env: { PATH },
    stdio: 'ignore',
  });
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
  writeFileSync(file, `${user} daemon off; pid ${folder}/pid; events {} ${http}`);
  const nginx = new Child('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], folder, { PATH });
  const hasEnded = () => nginx.process.exitCode !== null;
  await until('nginx listens', async () => hasEnded() || accepts(socketPath), 15_000);
  if (hasEnded()) throw new Error(`nginx does not start: ${nginx.err}`);
  return { socketPath, stop: () => nginx.stop('SIGQUIT') };
}

/** Whether somebody listens there. */
async function accepts(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
