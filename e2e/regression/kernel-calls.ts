/**
 * Counts a process's calls of the kernel by strace, where it exists and may trace. They include SQLite's
 * reads and writes, which Node's functions do not show.
 */
import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { promisify } from 'node:util';

/**
 * Calls that only files need. `read` and `write` also serve sockets and threads, whose number of wake-ups
 * varies. `sync_file_range` is no sync: Dray starts writes with it and does not wait for them.
 */
const KERNEL_CALLS = {
  opens: ['open', 'openat', 'openat2', 'creat'],
  reads: ['pread64', 'preadv', 'preadv2'],
  writes: ['pwrite64', 'pwritev', 'pwritev2'],
  syncs: ['fsync', 'fdatasync', 'syncfs', 'msync'],
  renames: ['rename', 'renameat', 'renameat2', 'link', 'linkat'],
  removals: ['unlink', 'unlinkat', 'rmdir'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type KernelCount = keyof typeof KERNEL_CALLS;

export type KernelCounts = Readonly<Record<KernelCount, number>>;

/** `?` before a name: strace accepts that this processor's kernel has no such call. */
const TRACED = Object.values(KERNEL_CALLS)
  .flat()
  .map((name) => `?${name}`)
  .join(',');

/** The command line to put before a command so that strace counts its calls into the file. */
export function straceCommand(notes: string): readonly string[] {
  return [
    'strace',
    '-f',
    '-qq',
    '--seccomp-bpf',
    '-c',
    '-o',
    notes,
    '-e',
    `trace=${TRACED}`,
    '-e',
    'signal=none',
  ];
}

/** Returns why the kernel's calls cannot be counted here, or undefined where they can. */
export async function findWhyNotTraced(): Promise<string | undefined> {
  const [file = '', ...args] = straceCommand(devNull);
  return promisify(execFile)(file, [...args, process.execPath, '--version']).then(
    () => undefined,
    (error: Error) => error.message.trim().split('\n').slice(0, 2).join(': '),
  );
}

/**
 * @param summary The output of `strace -c`: a line for each call, its number in the fourth column, its name
 * in the last.
 */
export function parseStraceSummary(summary: string): KernelCounts {
  const calls = new Map<string, number>();
  for (const line of summary.split('\n')) {
    const fields = line.trim().split(/\s+/);
    const [, , , count] = fields;
    const name = fields.at(-1);
    if (name !== undefined && name !== 'total' && /^\d+$/.test(count ?? '')) calls.set(name, Number(count));
  }
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + (calls.get(name) ?? 0), 0);
  return {
    opens: sum(KERNEL_CALLS.opens),
    reads: sum(KERNEL_CALLS.reads),
    writes: sum(KERNEL_CALLS.writes),
    syncs: sum(KERNEL_CALLS.syncs),
    renames: sum(KERNEL_CALLS.renames),
    removals: sum(KERNEL_CALLS.removals),
  };
}
