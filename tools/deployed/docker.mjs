// Starts an engine of containers from the packages of Debian, in a network namespace of its own whose way out is
// slirp4netns, builds the image, and runs what docs/operations/deploy.md and compose.yaml say. No registry of images is
// needed: a stand-in for the base has its name. It is Debian with the Node.js of the repository and npm.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeAt } from '../../build/test/docs/code-blocks.js';

export const needs = {
  debootstrap: 'debootstrap',
  iptables: 'iptables',
  slirp4netns: 'slirp4netns',
  ip: 'iproute2',
  nsenter: 'util-linux',
  curl: 'curl',
};
export const asRoot = true;

const DEBS = 'docker.io containerd runc tini';
const COMPOSE = 'github.com/docker/compose/v2@v2.39.4';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

export async function run({ root, sh, show, left }) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-docker-'));
  const name = 'deployed';
  /** Starts a program that runs until the end of the namespace. */
  const start = (program, args, env = {}) => {
    const log = openSync(join(folder, 'log'), 'a');
    const options = { stdio: ['ignore', log, log], env: { ...process.env, ...env } };
    return spawn(program, args, options);
  };
  sh(`mount -t tmpfs tmpfs ${folder} && mkdir ${folder}/debs ${folder}/engine ${folder}/run`);
  try {
    sh(`cd ${folder}/debs && apt-get -qq download ${DEBS}`, { timeout: 120_000 });
  } catch {
    return `needs the packages ${DEBS}`;
  }
  const compose = buildCompose(folder);
  sh(`for deb in ${folder}/debs/*.deb; do dpkg -x $deb ${folder}/engine; done`);
  try {
    const packages = '--variant=minbase --include=libatomic1,ca-certificates';
    sh(`debootstrap ${packages} bookworm ${folder}/base`, { timeout: 180_000 });
  } catch {
    return 'needs a mirror of Debian';
  }

  // The engine. The name of its network is in a folder of this mount namespace, and ends with it.
  sh('mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns');
  sh(`ip netns add ${name} && nsenter --net=/run/netns/${name} ip link set lo up`);
  const slirp = ['--configure', '--mtu=65520', '--netns-type=path'];
  start('slirp4netns', [...slirp, `/run/netns/${name}`, 'tap0']);
  const bins = `${folder}/engine/usr/sbin:${folder}/engine/usr/bin`;
  const PATH = `${bins}:${process.env.PATH}`;
  const socket = `unix://${folder}/run/docker.sock`;
  const dockerd = start(
    'nsenter',
    [
      `--net=/run/netns/${name}`,
      'dockerd',
      '--exec-opt=native.cgroupdriver=cgroupfs',
      `--cgroup-parent=/${process.env.CONTROL_GROUP}`,
      `--host=${socket}`,
      `--data-root=${folder}/data`,
      `--exec-root=${folder}/run/exec`,
      `--pidfile=${folder}/run/pid`,
    ],
    { PATH },
  );
  const env = {
    PATH,
    DOCKER_HOST: socket,
    DOCKER_CONFIG: join(folder, 'config'),
    DOCKER_BUILDKIT: '0',
  };
  const docker = (line, options) => sh(line, { env, timeout: 240_000, ...options });
  const within = (line) => sh(`nsenter --net=/run/netns/${name} ${line}`, { env });
  const status = (path, key = '') =>
    within(
      `curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer ${key}' http://127.0.0.1:8080${path} || true`,
    );
  const isUp = () => {
    try {
      return docker('docker version --format "{{.Server.Version}}"') !== '';
    } catch {
      if (dockerd.exitCode !== null) throw new Error(readFileSync(join(folder, 'log'), 'utf8'));
      return false;
    }
  };
  await until('the engine responds', isUp);

  // The base.
  const [, base] = /^FROM (\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  cpSync(process.execPath, join(folder, 'base/usr/local/bin/node'));
  const npm = sh('dirname "$(dirname "$(readlink -f "$(command -v npm)")")"');
  mkdirSync(join(folder, 'base/usr/local/lib/node_modules'), { recursive: true });
  cpSync(npm, join(folder, 'base/usr/local/lib/node_modules/npm'), { recursive: true });
  sh(`ln -s ../lib/node_modules/npm/bin/npm-cli.js ${folder}/base/usr/local/bin/npm`);
  if (existsSync(CERTIFICATES)) cpSync(CERTIFICATES, join(folder, 'base', CERTIFICATES));
  const settings = [
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
  ];
  const changes = settings.map((change) => `--change '${change}'`).join(' ');
  docker(`tar -C ${folder}/base -c . | docker import ${changes} - ${base}`);

  // The page.
  const [build, ...lines] = codeAt('docs/operations/deploy.md > In a container > 1')
    .trim()
    .split('\n');
  docker(build, { timeout: 300_000 });
  const bytes =
    docker('docker image inspect animal-store --format "{{.Size}}"') -
    docker(`docker image inspect ${base} --format "{{.Size}}"`);
  show('the image builds, and adds to its base', true, `${(bytes / 1e6).toFixed(1)} MB`);
  const [, first, serving, second] = lines.map((line) => docker(line));
  await until('the service is ready', () => status('/readyz') === '200');
  show('the key from before the start is accepted', status('/v1/pets', first) === '200');
  show('the key from beside the service is accepted', status('/v1/pets', second) === '200');
  const [install, backup, restore] = codeAt('docs/operations/deploy.md > In a container > 2')
    .trim()
    .split('\n');
  const here = (line) => docker(line.replaceAll('/srv/backups', `${folder}/backups`));
  sh(`mkdir ${folder}/backups`);
  let refusal = '';
  try {
    here(backup);
  } catch (error) {
    refusal = error.message;
  }
  show('a backup into a folder of root names the user', refusal.includes('as the user 1000'));
  here(install);
  here(backup);
  within(
    `curl -s -f -o /dev/null -H 'Authorization: Bearer ${first}' --json '{"name":"Bella","categoryId":1}' http://127.0.0.1:8080/v1/pets`,
  );
  here(restore);
  await until('the restored service is ready', () => status('/readyz') === '200');
  const isEmpty =
    within(`curl -s -H 'Authorization: Bearer ${first}' http://127.0.0.1:8080/v1/pets`) === '[]';
  show('a backup is restored', isEmpty);
  await until(
    'the engine finds it healthy',
    () => docker(`docker inspect --format '{{.State.Health.Status}}' ${serving}`) === 'healthy',
  );
  const began = performance.now();
  docker('docker stop shop');
  const code = docker(`docker inspect --format '{{.State.ExitCode}}' ${serving}`);
  show('docker stop ends it in order', code === '0', `${Math.round(performance.now() - began)} ms`);

  // Compose.
  if (!(await Promise.race([compose, delay(left(), false, { ref: false })])))
    return 'Compose: needs its plugin, or Go to build it in five minutes; the rest was run';
  sh(
    `mkdir -p ${folder}/config/cli-plugins && cp ${folder}/compose/docker-compose ${folder}/config/cli-plugins/`,
  );
  sh(
    `mkdir ${folder}/checkout && git -C ${root} ls-files | tar -C ${root} -c --files-from - | tar -x -C ${folder}/checkout`,
  );
  const cwd = join(folder, 'checkout');
  const at = (line) => docker(line, { cwd, timeout: 300_000 });
  docker('docker rm --force shop');
  at('docker compose ps');
  for (const line of readFileSync(join(cwd, 'compose.yaml'), 'utf8').match(
    /(?<=^# )(?:echo|docker) .*$/gm,
  ))
    at(line);
  const [, key] = /^API_KEYS=(.+)$/m.exec(readFileSync(join(cwd, '.env'), 'utf8'));
  show('compose.yaml serves with the key of .env', status('/v1/pets', key) === '200');
  at('docker compose down --volumes');
  show('docker compose ps and down work', true);
  return undefined;
}

async function until(what, holds) {
  const end = performance.now() + 90_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within 90 s: ${what}`);
    await delay(200);
  }
}

/** Builds the plugin, while the rest runs. Resolves to whether it is there. */
function buildCompose(folder) {
  const env = {
    ...process.env,
    GOPATH: `${folder}/go`,
    GOCACHE: `${folder}/go-cache`,
    GOFLAGS: '-modcacherw',
  };
  // A plugin of this machine does as well.
  const script = `set -e; mkdir ${folder}/compose; cd ${folder}/compose
    for plugin in /usr/libexec /usr/lib /usr/local/lib /usr/local/libexec; do
      cp "$plugin/docker/cli-plugins/docker-compose" . 2>/dev/null && exit 0
    done
    from=$(go mod download -json ${COMPOSE} | sed -n 's/.*"Dir": "\\(.*\\)".*/\\1/p')
    cp -r "$from" source; cd source
    nice go build -ldflags '-s -w -X github.com/docker/compose/v2/internal.Version=2.39.4' -o ../docker-compose ./cmd`;
  const child = spawn('sh', ['-c', script], { env, stdio: 'ignore', timeout: 300_000 });
  return once(child, 'exit').then(([code]) => code === 0);
}
