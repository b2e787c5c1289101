/**
 * Distinguishes the first start of a login from later ones. After a crash the system starts the process
 * again, and the jobs that run at login have run already.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lifeOf } from '../../base/process-life.ts';
import { replaceFile } from '../../base/replace-file.ts';

/**
 * True once for each parent of this process, such as the user's service manager, which lives as long as the
 * login. Always true outside Linux, where parents cannot be distinguished.
 */
export function beginLogin(folder: string): boolean {
  const life = lifeOf(process.ppid);
  if (!life) return true;
  const login = `${process.ppid} ${life.startTicks} ${life.numbering}`;
  const path = join(folder, '.login');
  if (readText(path) === login) return false;
  // Recorded first: a crash must not start the jobs again and again.
  replaceFile(path, login, 0o600);
  return true;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
