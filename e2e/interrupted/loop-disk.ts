/**
 * Disks whose power can be cut: ext4 on loop devices. A cut copies the image file while nothing syncs. The
 * copy has what the file system had written to its device, and nothing that was only in the page cache.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive } from '../../engine/base/process-life.ts';

const PREFIX = 'dray-power-';
const SNAPSHOT_TRIES_MAX = 200;

/** A folder for images and mounts. If this process is killed, the next run sweeps it. */
export interface LoopDisks extends AsyncDisposable {
  /** The only mount point: a disk always has the same path, as on a real machine. */
  readonly mountPoint: string;
  /** Creates an empty file system in an image. */
  make(image: string, sizeMiB: number): void;
  mount(image: string, options?: string): void;
  /** Unmounts the disk, which writes everything out. */
  unmount(): void;
  copy(from: string, to: string): void;
  /** Copies the mounted disk as it would be after a power cut now. */
  cut(to: string): Promise<void>;
  /**
   * Syncs an unrelated file, as other programs do. The metadata of the whole file system then reaches the
   * disk, other files' contents do not.
   */
  syncAnotherFile(): void;
}

/** Returns why power cuts do not work here, or undefined where they do. */
export function findWhyNoLoopDisks(): string | undefined {
  if (process.platform !== 'linux') return 'loop devices are Linux';
  if (process.getuid?.() !== 0) return 'only root may mount';
  for (const [name, flag] of [
    ['mkfs.ext4', '-V'],
    ['losetup', '--version'],
    ['mount', '--version'],
  ] as const)
    if (spawnSync(name, [flag]).error) return `there is no ${name}`;
  try {
    const disks = openLoopDisks();
    try {
      disks.make('probe', 8);
      disks.mount('probe');
      return undefined;
    } finally {
      disks[Symbol.asyncDispose]();
    }
  } catch (error) {
    return (error as Error).message.trim();
  }
}

export function openLoopDisks(): LoopDisks {
  sweep();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const mountPoint = join(folder, 'mount');
  mkdirSync(mountPoint);
  const pathOf = (image: string) => join(folder, image);
  let mounted: string | undefined;
  const unmount = () => {
    if (mounted === undefined) return;
    run('umount', mountPoint);
    mounted = undefined;
  };
  return {
    mountPoint,
    make(image, sizeMiB) {
      run('truncate', '-s', `${sizeMiB}M`, pathOf(image));
      run('mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0', pathOf(image));
    },
    mount(image, options = 'defaults') {
      unmount();
      run('mount', '-o', `loop,${options}`, pathOf(image), mountPoint);
      mounted = image;
    },
    unmount,
    copy: (from, to) => copyImage(pathOf(from), pathOf(to)),
    async cut(to) {
      const device = loopDeviceOf(pathOf(mounted!));
      for (let tries = 1; tries <= SNAPSHOT_TRIES_MAX; tries += 1) {
        const before = writesOf(device);
        copyImage(pathOf(mounted!), pathOf(to));
        if (before.inFlight === 0 && writesOf(device).completed === before.completed) return;
        await pause(5);
      }
      throw new Error('The disk never stopped writing, so it could not be copied at one moment.');
    },
    syncAnotherFile() {
      const file = openSync(join(mountPoint, 'another-program'), 'a');
      try {
        writeSync(file, '.');
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    },
    async [Symbol.asyncDispose]() {
      unmount();
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
    if (existsSync(join(folder, 'mount'))) spawnSync('umount', [join(folder, 'mount')]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyImage(from: string, to: string): void {
  run('cp', '--reflink=auto', '--sparse=always', from, to);
}

function loopDeviceOf(image: string): string {
  const [device] = run('losetup', '--noheadings', '--output', 'NAME', '--associated', image)
    .trim()
    .split('\n');
  return device!.trim().replace('/dev/', '');
}

/** /sys/block/DEVICE/stat (kernel: block/stat.rst): field 5 counts writes, field 9 requests in flight. */
function writesOf(device: string): { readonly completed: number; readonly inFlight: number } {
  const fields = readFileSync(`/sys/block/${device}/stat`, 'utf8').trim().split(/\s+/);
  return { completed: Number(fields[4]), inFlight: Number(fields[8]) };
}

function run(command: string, ...parameters: readonly string[]): string {
  const { error, status, stderr, stdout } = spawnSync(command, parameters, { encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${stderr}`);
  return stdout;
}
