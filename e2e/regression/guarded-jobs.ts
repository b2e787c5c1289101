/**
 * The jobs whose counts are pinned, in the order in which they run: each starts with the state that the one
 * before left.
 */
import { closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { noise } from '../../engine/peer/peer.fixture.ts';

export interface GuardedJob {
  readonly name: string;
  /** The other end: an S3 server, another machine that serves the folder `offered`, or nothing. */
  readonly far: 'store' | 'peer' | 'none';
  prepare?(bed: Bed): Promise<void> | void;
  parameters(bed: Bed): readonly string[];
}

export interface Bed {
  readonly sandbox: Sandbox;
  /** A place at the other end, such as `s3://bucket/PATH` and `dray://127.0.0.1:1234/PATH?tls=off`. */
  place(path: string): string;
  /** Runs the command without counting. */
  dray(...parameters: readonly string[]): Promise<void>;
}

const MIB = 1024 * 1024;
const SMALL_FILES = 2_000;
const SMALL_BYTES_MAX = 4_096;
const FILES_IN_FOLDER = 250;
const CHANGED_STEP = 50;
const LARGE_MIB = 128;
/** The first file's time in seconds since 1970; each later file is one second younger. */
const MODIFIED_S = Date.UTC(2026, 0, 1) / 1000;

/** Sizes from 0 to 4 KiB, with incompressible content. */
export function writeSmallFiles(root: string): void {
  const content = noise(8 * MIB, 1);
  for (let at = 0; at < SMALL_FILES; at += 1) {
    const path = smallFile(root, at);
    if (at % FILES_IN_FOLDER === 0) mkdirSync(join(path, '..'), { recursive: true });
    const start = at * SMALL_BYTES_MAX;
    writeFileSync(path, content.subarray(start, start + ((at * 7_919) % (SMALL_BYTES_MAX + 1))));
    utimesSync(path, MODIFIED_S + at, MODIFIED_S + at);
  }
}

function smallFile(root: string, at: number): string {
  return join(root, `d${Math.floor(at / FILES_IN_FOLDER)}`, `f${String(at).padStart(5, '0')}`);
}

/** Changes one file in fifty without changing its size. */
function changeSmallFiles(root: string): void {
  for (let at = 1; at < SMALL_FILES; at += CHANGED_STEP) {
    writeFileSync(smallFile(root, at), noise((at * 7_919) % (SMALL_BYTES_MAX + 1), 2));
    utimesSync(smallFile(root, at), MODIFIED_S + SMALL_FILES + at, MODIFIED_S + SMALL_FILES + at);
  }
}

export function writeLargeFile(root: string): void {
  mkdirSync(root, { recursive: true });
  const path = join(root, 'large.bin');
  writeFileSync(path, noise(LARGE_MIB * MIB, 3));
  utimesSync(path, MODIFIED_S, MODIFIED_S);
}

/** Changes one MiB in the middle. */
function changeLargeFile(root: string): void {
  const path = join(root, 'large.bin');
  const file = openSync(path, 'r+');
  writeSync(file, noise(MIB, 4), 0, MIB, 50 * MIB + 12_345);
  closeSync(file);
  utimesSync(path, MODIFIED_S + 60, MODIFIED_S + 60);
}

const inWorkspace =
  (path: string, ...parameters: readonly string[]) =>
  ({ sandbox }: Bed) => ['-C', sandbox.path(path), ...parameters];

const initialize =
  (path: string) =>
  async ({ dray, place, sandbox }: Bed): Promise<void> =>
    dray('init', sandbox.path(path), '--remote', place(path));

const PUSH = ['push', '-m', 'counted'];

const REPOSITORY: readonly GuardedJob[] = [
  {
    name: 'push of small files',
    far: 'store',
    prepare: initialize('work'),
    parameters: inWorkspace('work', ...PUSH),
  },
  { name: 'push of small files again', far: 'store', parameters: inWorkspace('work', ...PUSH) },
  { name: 'status of small files', far: 'store', parameters: inWorkspace('work', 'status') },
  {
    name: 'clone of small files',
    far: 'store',
    parameters: ({ place, sandbox }) => ['clone', place('work'), sandbox.path('clone')],
  },
  {
    name: 'push of small files, 2 % changed',
    far: 'store',
    prepare: ({ sandbox }) => changeSmallFiles(sandbox.path('work')),
    parameters: inWorkspace('work', ...PUSH),
  },
  { name: 'pull of small files, 2 % changed', far: 'store', parameters: inWorkspace('clone', 'pull') },
  {
    name: 'push of a large file',
    far: 'store',
    prepare: initialize('large-work'),
    parameters: inWorkspace('large-work', ...PUSH),
  },
  {
    name: 'push of a large file, 1 MiB changed',
    far: 'store',
    prepare: ({ sandbox }) => changeLargeFile(sandbox.path('large-work')),
    parameters: inWorkspace('large-work', ...PUSH),
  },
  {
    name: 'clone of a large file',
    far: 'store',
    parameters: ({ place, sandbox }) => ['clone', place('large-work'), sandbox.path('large-clone')],
  },
];

const copy =
  (from: 'here' | 'far', name: string, to: string, ...options: readonly string[]) =>
  ({ place, sandbox }: Bed) =>
    from === 'here'
      ? ['copy', sandbox.path(name), place(to), ...options]
      : ['copy', place(name), sandbox.path(to), ...options];

const STORE: readonly GuardedJob[] = [
  { name: 'copy of small files up', far: 'store', parameters: copy('here', 'small', 'up') },
  {
    name: 'sync of small files up, unchanged',
    far: 'store',
    parameters: ({ place, sandbox }) => ['sync', sandbox.path('small'), place('up')],
  },
  {
    name: 'dry run of small files up, all new',
    far: 'store',
    parameters: copy('here', 'small', 'nothing-there', '--dry-run'),
  },
  { name: 'copy of small files down', far: 'store', parameters: copy('far', 'up', 'down') },
  { name: 'copy of a large file up', far: 'store', parameters: copy('here', 'large', 'large-up') },
  { name: 'copy of a large file down', far: 'store', parameters: copy('far', 'large-up', 'large-down') },
  {
    name: 'copy of a large file up, 1 MiB changed',
    far: 'store',
    prepare: ({ sandbox }) => changeLargeFile(sandbox.path('large')),
    parameters: copy('here', 'large', 'large-up'),
  },
];

const PEER: readonly GuardedJob[] = [
  { name: 'copy of small files to a peer', far: 'peer', parameters: copy('here', 'small', 'small') },
  {
    name: 'sync of small files to a peer, unchanged',
    far: 'peer',
    parameters: ({ place, sandbox }) => ['sync', sandbox.path('small'), place('small')],
  },
  { name: 'copy of small files from a peer', far: 'peer', parameters: copy('far', 'small', 'from-peer') },
  {
    name: 'copy of a large file to a peer',
    far: 'peer',
    prepare: ({ sandbox }) => writeLargeFile(sandbox.path('large')),
    parameters: copy('here', 'large', 'large'),
  },
  {
    name: 'copy of a large file to a peer, 1 MiB changed',
    far: 'peer',
    prepare: ({ sandbox }) => changeLargeFile(sandbox.path('large')),
    parameters: copy('here', 'large', 'large'),
  },
];

export const GUARDED_JOBS: readonly GuardedJob[] = [
  { name: 'start', far: 'none', parameters: () => ['--version'] },
  ...REPOSITORY,
  ...STORE,
  ...PEER,
];
