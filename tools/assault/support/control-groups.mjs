import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';

/**
 * Makes control groups (version 1), below those of this process, with `memory` in bytes and `cpu` in processors.
 * `command` wraps a command line so that it runs in them. Undefined where they cannot be made. `remove` them at the end.
 */
export function controlGroups({ memory, cpu }) {
  const made = [];
  const make = (controller, files) => {
    const [, own] = new RegExp(`:${controller}:(.*)`).exec(
      readFileSync('/proc/self/cgroup', 'latin1'),
    );
    const group = `/sys/fs/cgroup/${controller}${own}/animal-store-${process.pid}`;
    mkdirSync(group);
    made.push(group);
    for (const [name, value] of Object.entries(files))
      writeFileSync(`${group}/${name}`, `${value}`);
  };
  const remove = () => made.splice(0).forEach((group) => existsSync(group) && rmdirSync(group));
  try {
    make('memory', { 'memory.limit_in_bytes': memory });
    make('cpu', { 'cpu.cfs_period_us': 100_000, 'cpu.cfs_quota_us': Math.round(cpu * 100_000) });
  } catch {
    remove();
    return undefined;
  }
  const enter = made.map((group) => `echo $$ > ${group}/cgroup.procs`).join('; ');
  const command = (words) => ['/bin/sh', '-c', `${enter}; exec "$@"`, 'sh', ...words];
  return { command, remove };
}
