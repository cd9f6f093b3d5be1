// Boots systemd in a container of its own on the files of this machine, and runs in-systemd.mjs there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Programs, with the package of Debian that brings each. */
export const needs = { 'systemd-nspawn': 'systemd-container', mount: 'mount' };
export const asRoot = true;

const NODE = '/usr/bin/node';
const RUN = '/run/deployed';

const UNIT = `[Service]
Type=oneshot
WorkingDirectory=/srv/animal-store
ExecStart=${NODE} tools/deployed/in-systemd.mjs
StandardOutput=file:${RUN}/lines
StandardError=file:${RUN}/errors
ExecStopPost=/usr/bin/systemctl exit --no-block
TimeoutStartSec=900
`;

export async function run({ root, sh, show }) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-units-'));
  sh(`mount -t tmpfs tmpfs ${folder}`);
  for (const name of ['upper', 'work', 'root', 'run']) mkdirSync(join(folder, name));
  const layers = `lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/work`;
  sh(`mount -t overlay overlay -o ${layers} ${folder}/root`);
  const at = join(folder, 'root');
  for (const path of ['srv/animal-store', 'run/deployed'])
    mkdirSync(join(at, path), { recursive: true });
  writeFileSync(join(at, 'etc/systemd/system/deployed.service'), UNIT);
  writeFileSync(join(at, 'etc/machine-id'), `${'a'.repeat(32)}\n`); // another one than this machine's
  writeFileSync(join(at, NODE), '', { flag: 'a' });
  const args = [
    '--quiet',
    `--directory=${at}`,
    '--register=no',
    '--keep-unit',
    '--private-network',
    `--bind=${folder}/run:${RUN}`,
    `--bind-ro=${process.execPath}:${NODE}`,
    `--overlay=${root}::/srv/animal-store`,
    '--boot',
    'systemd.unit=deployed.service',
  ];
  const booted = spawnSync('systemd-nspawn', args, {
    encoding: 'utf8',
    timeout: 1_000_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const read = (name) => {
    try {
      return readFileSync(join(folder, 'run', name), 'utf8');
    } catch {
      return '';
    }
  };
  if (read('lines') === '') throw new Error(`${booted.stdout}${booted.stderr}`);
  for (const line of read('lines').trim().split('\n')) {
    const [what, holds, figure] = JSON.parse(line);
    show(what, holds, figure);
  }
  if (read('errors') !== '') throw new Error(read('errors'));
}
