/**
 * Keeps a local file before it is overwritten: in the bin, or in its own folder under a second name. The file
 * gets another name (a hard link) right before a rename replaces it. So after a kill at any moment its
 * content is at its path, under the other name, or both. No byte is copied. On a file system without hard
 * links the file is renamed, and renamed back if it was not replaced.
 *
 * The other name and the content are synced before the file is replaced. Otherwise a power cut could leave an
 * empty file in the bin when the file was written a moment before.
 */
import {
  type BigIntStats,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { KeptTotals, MadeCopy } from '../../api/jobs/jobs.ts';
import { ifThere } from '../../base/if-there.ts';
import { openDiskSync } from '../../files/disk/sync-disk.ts';
import { linkAbove } from '../../files/scan/local-place.ts';
import { errnoOf, linkInTheWay, writeError } from '../../files/write/write-error.ts';
import type { Session } from '../session/open-workspace.ts';
import { conflictCopyName } from './conflict-copy-name.ts';
import { type KeptRunFolder, makeRun, removeRun, sweepRuns } from './kept-folder.ts';

const TURNS_MAX = 1_000;
const COPIES_LISTED_MAX = 100;

export interface LocalKeeper {
  /** Gives the file its other name. Does nothing if no file exists there. */
  keep(path: string): void;
  /** Call it after `keep`, right before the paths are overwritten or removed. One sync covers many paths. */
  sync(): Promise<void>;
  /** Removes the other names of files that were not replaced, and sweeps the bin. */
  settle(): { readonly kept?: KeptTotals; readonly copies?: readonly MadeCopy[] };
}

export interface LocalKeeperOptions {
  readonly session: Pick<Session, 'clock' | 'workspace'>;
  /** The command, which the list of the bin shows. */
  readonly words: string;
  /** By the path of a file that gets a second name: the path of the file or folder that is named anew. */
  readonly copies?: ReadonlyMap<string, string>;
  /** True for a path that a second name must not use. */
  readonly isTaken?: (path: string) => boolean;
  /** False for a file that need not be kept. Default: every file is kept. */
  readonly isMeant?: (path: string) => boolean;
  /** The paths that the command removes. */
  readonly deletions?: ReadonlySet<string>;
}

interface Kept {
  readonly path: string;
  /** The other name, as an absolute path. */
  readonly to: string;
  readonly identity: string;
  readonly bytes: number;
  /** The second name, as a path in the workspace. Undefined for a file in the bin. */
  readonly copy?: string;
}

export function openLocalKeeper(options: LocalKeeperOptions): LocalKeeper {
  const { clock, workspace } = options.session;
  const { root } = workspace;
  const all = new Map<string, Kept>();
  const nowMs = clock.nowMs();
  const day = new Date(nowMs).toISOString().slice(0, 'yyyy-mm-dd'.length);
  let run: KeptRunFolder | undefined;
  const disk = openDiskSync(root);
  /** By the path of the file or folder that is named anew. */
  const turns = new Map<string, number>();

  const keepInBin = (path: string): string => {
    run ??= makeRun(workspace, nowMs, options.words);
    const to = join(run.files, path);
    mkdirSync(dirname(to), { recursive: true });
    return inFreePlace(
      (turn) => (turn === 1 ? to : `${to} ${turn}`),
      (at) => giveName(join(root, path), at),
    );
  };
  const keepBeside = (path: string, whole: string): string => {
    const name = (turn: number) => {
      turns.set(whole, turn);
      return (
        posix.join(posix.dirname(whole), conflictCopyName(posix.basename(whole), day, turn)) +
        path.slice(whole.length)
      );
    };
    const first = turns.get(whole) ?? 1;
    return inFreePlace(
      (turn) => name(path === whole ? turn : first + turn - 1),
      (copy) => {
        if (options.isTaken?.(copy)) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
        // A run that was killed has given it this name already.
        if (isSameFile(join(root, path), join(root, copy))) return;
        mkdirSync(dirname(join(root, copy)), { recursive: true });
        giveName(join(root, path), join(root, copy));
      },
    );
  };
  return {
    keep(path) {
      try {
        if (options.isMeant?.(path) === false) return;
        checkParents(root, path);
        const identity = identityOf(join(root, path));
        if (identity === undefined || all.get(path)?.identity === identity.id) return;
        const whole = options.copies?.get(path);
        const place = whole === undefined ? keepInBin(path) : keepBeside(path, whole);
        const to = whole === undefined ? { to: place } : { to: join(root, place), copy: place };
        // The folders above may be new too.
        for (let name = to.to; name.length > root.length; name = dirname(name)) disk.note(name);
        all.set(path, { path, identity: identity.id, bytes: identity.bytes, ...to });
      } catch (error) {
        throw writeError(error, path);
      }
    },
    sync: disk.sync,
    settle() {
      const kept: Kept[] = [];
      for (const one of all.values()) {
        const live = identityOf(join(root, one.path))?.id;
        if (live === one.identity) unlinkSync(one.to);
        else if (
          live === undefined &&
          !options.deletions?.has(one.path) &&
          !statIfThere(join(root, one.path))
        )
          renameSync(one.to, join(root, one.path));
        else kept.push(one);
      }
      const copies = kept.flatMap(({ copy, path }) => (copy === undefined ? [] : [{ path, copy }]));
      const inBin = kept.filter(({ copy }) => copy === undefined);
      if (run && inBin.length === 0) removeRun(run);
      sweepRuns(workspace, nowMs);
      const bytes = inBin.reduce((sum, one) => sum + one.bytes, 0);
      return {
        ...(run && inBin.length > 0 ? { kept: { id: run.id, files: inBin.length, bytes } } : {}),
        ...(copies.length > 0 ? { copies: copies.slice(0, COPIES_LISTED_MAX) } : {}),
      };
    },
  };
}

/** Tries the places in order until one is free. */
function inFreePlace(placeAt: (turn: number) => string, use: (place: string) => void): string {
  for (let turn = 1; ; turn += 1) {
    const place = placeAt(turn);
    try {
      use(place);
      return place;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST' || turn === TURNS_MAX) throw error;
    }
  }
}

/**
 * Gives a file or link another name, and never replaces a file. @throws the system's error; EEXIST if taken
 */
export function giveName(from: string, to: string): void {
  if (lstatSync(from).isSymbolicLink()) {
    symlinkSync(readlinkSync(from, 'buffer'), to);
    return;
  }
  try {
    linkSync(from, to);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOENT') throw error;
    // No hard links here. An empty file reserves the name, so the rename cannot replace another file.
    writeFileSync(to, '', { flag: 'wx' });
    renameSync(from, to);
  }
}

/** One file under both names, or two links with one target. */
function isSameFile(path: string, name: string): boolean {
  const [one, other] = [statIfThere(path), statIfThere(name)];
  if (!one || !other || one.isDirectory()) return false;
  if (one.isSymbolicLink() && other.isSymbolicLink())
    return readlinkSync(path, 'buffer').equals(readlinkSync(name, 'buffer'));
  return one.dev === other.dev && one.ino === other.ino;
}

/** Undefined if the path is a folder or does not exist. */
function identityOf(absolute: string): { readonly id: string; readonly bytes: number } | undefined {
  const stat = statIfThere(absolute);
  if (!stat || stat.isDirectory()) return undefined;
  return { id: `${stat.dev}:${stat.ino}`, bytes: Number(stat.size) };
}

/** Undefined if the path does not exist, also below a file. */
export function statIfThere(absolute: string): BigIntStats | undefined {
  return ifThere(() => lstatSync(absolute, { bigint: true, throwIfNoEntry: false }));
}

/** A path through a link leads out of the workspace. @throws `unsafePath` */
export function checkParents(root: string, path: string): void {
  const link = linkAbove(root, path);
  if (link !== undefined) throw linkInTheWay(link);
}
