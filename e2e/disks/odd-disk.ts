/**
 * Disks that refuse or bend what others do: a FUSE file system in a process of its own shows a folder with
 * faults, as network disks, unions, vfat and sandboxes have them (`odd-disk-process.ts`).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../../engine/base/process-life.ts';
import type { DiskFaults } from './disk-faults.ts';

export interface OddDisk extends AsyncDisposable {
  /** Where the disk is mounted. */
  readonly path: string;
  /** The folder that it shows, without faults. */
  readonly backing: string;
}

const PREFIX = 'dray-odd-disk-';
const PROCESS = fileURLToPath(new URL('./odd-disk-process.ts', import.meta.url));

/** Returns why odd disks cannot be had here, or undefined where they can. */
export function findWhyNoOddDisks(): string | undefined {
  if (process.platform !== 'linux') return 'FUSE disks are Linux';
  if (process.getuid?.() !== 0) return 'only root may mount';
  if (spawnSync('mount', ['--version']).error) return 'there is no mount';
  try {
    closeSync(openSync('/dev/fuse', 'r+'));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export async function mountOddDisk(faults: DiskFaults): Promise<OddDisk> {
  sweep();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const path = join(folder, 'mount');
  const backing = join(folder, 'backing');
  mkdirSync(path);
  mkdirSync(backing);
  const device = openSync('/dev/fuse', 'r+');
  let child: ChildProcess;
  try {
    // Mounting asks the file system nothing; its process answers INIT when it starts.
    const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
    const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'odd', path], {
      stdio: ['ignore', 'ignore', 'pipe', device],
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`mount: ${stderr}`);
    child = spawn(process.execPath, [PROCESS, backing, JSON.stringify(faults)], {
      stdio: ['ignore', 'inherit', 'inherit', device, 'ipc'],
    });
  } finally {
    closeSync(device);
  }
  await once(child, 'message');
  child.disconnect();
  return {
    path,
    backing,
    async [Symbol.asyncDispose]() {
      const isOver = child.exitCode === null ? once(child, 'exit') : undefined;
      spawnSync('umount', ['--lazy', path]);
      await isOver;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Unmounts and removes what killed runs left. Does not touch anything of living processes. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    if (existsSync(folder)) spawnSync('umount', ['--lazy', join(folder, 'mount')]);
    rmSync(folder, { recursive: true, force: true });
  }
}
