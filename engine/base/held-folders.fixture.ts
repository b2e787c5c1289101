/**
 * For tests of links that lead outside: a folder that nothing may reach, and the number of folders held open.
 */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

export interface Outside extends Disposable {
  readonly folder: string;
  /** The only file in it, old enough for the sweep of old temporary files. */
  readonly secret: string;
  expectUntouched(): void;
}

export function createOutside(): Outside {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dray-outside-')));
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'not offered');
  utimesSync(secret, 1, 1);
  return {
    folder,
    secret,
    expectUntouched() {
      expect(readdirSync(folder)).toEqual(['secret']);
      expect(readFileSync(secret, 'utf8')).toBe('not offered');
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Open descriptors of this process for folders and files below a root (Linux). */
export function countHeldBelow(root: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root);
    } catch {
      return false;
    }
  }).length;
}
