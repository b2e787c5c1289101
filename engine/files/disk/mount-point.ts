/** Whether another disk, or another folder of the same, is mounted at a path: nobody can replace that. */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { ifThere } from '../../base/if-there.ts';

/** False also where nothing tells. */
export function isMountPoint(path: string): boolean {
  try {
    const stats = ifThere(() => lstatSync(path, { throwIfNoEntry: false }));
    if (!stats || stats.isSymbolicLink()) return false;
    if (stats.isDirectory() && stats.dev !== lstatSync(dirname(path)).dev) return true;
    return process.platform === 'linux' && mountPoints().has(realpathSync(path));
  } catch {
    return false;
  }
}

/** Also those of the same disk (`mount --bind`). Linux's proc_pid_mountinfo(5): the fifth field. */
function mountPoints(): ReadonlySet<string> {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return new Set(lines.map((line) => unescaped(line.split(' ')[4] ?? '')));
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
