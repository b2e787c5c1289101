/**
 * Opens files below a root to which other processes may write at the same time.
 *
 * Invariant on Linux: each folder is opened part by part from the root's descriptor, and no part may be a
 * link. Its files are then opened through that descriptor (`/proc/self/fd/N/name`; Node has no openat), so a
 * link that replaces a folder of the path later is not followed. The caller protects the last name:
 * O_NOFOLLOW to open it; rename, link, unlink and lstat do not follow it.
 *
 * Elsewhere Node cannot hold a folder, so each part is checked right before its use. Another process of the
 * machine can still swap a folder for a link between the check and the use.
 *
 * A few descriptors are cached for the next calls. One is reused only if the system confirms that it still
 * belongs to its path. None is cached for long: an open folder keeps its disk from being unmounted.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstat,
  lstatSync,
  mkdir,
  mkdirSync,
  open,
  openSync,
  readlinkSync,
} from 'node:fs';
import { sep } from 'node:path';
import { promisify } from 'node:util';
import { DrayError } from '../api/error.ts';
import { checkTemporaryFolder, isBelowTemporaryFolder } from './temporary-owner.ts';

export interface HeldFolder extends Disposable {
  /** Undefined where folders cannot be held. */
  readonly fd: number | undefined;
  /** The path of this name in the folder, valid until `release`; '' is the folder itself. */
  at(name: string): string;
  /** Call exactly once, unless `using` does. */
  release(): void;
}

export interface HoldOptions {
  /** If given, missing folders are created. Gets each folder in which a new name was created. */
  readonly onMake?: (folder: string) => void;
}

export interface HeldFolders {
  /** Absolute, for messages. */
  readonly path: string;
  /**
   * @param folder Relative to the root, `/` between parts; '' is the root.
   * @throws DrayError `unsafePath` for a link on the way, `accessDenied` for another user's temporary folder;
   * Node's errors, as ENOENT.
   */
  hold(folder: string, options?: HoldOptions): Promise<HeldFolder>;
  holdSync(folder: string, options?: HoldOptions): HeldFolder;
  /** The same folders, relative to one of them. */
  below(folder: string): HeldFolders;
  /** Closes cached descriptors that are not in use. The next call opens them again. */
  close(): void;
}

interface Entry {
  readonly fd: number;
  uses: number;
  /** Its last user closes it. */
  isDropped: boolean;
}

type Step = { readonly call: 'open' | 'lstat' | 'mkdir'; readonly path: string };
/** Yields one file-system call at a time to its driver, which runs it synchronously or asynchronously. */
type Steps<T> = Generator<
  Step,
  T,
  number | { isDirectory(): boolean; isSymbolicLink(): boolean } | undefined
>;

const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
/**
 * Enough for a write: the root, the temporary folders and a few key folders. A low `ulimit -n` leaves few
 * descriptors.
 */
const KEPT_MAX = 8;
const KEPT_IDLE_MS = 2_000;
/** Bounds the attempts to create a folder that others keep removing. */
const MAKINGS_MAX = 20;

export const CAN_HOLD_FOLDERS = process.platform === 'linux' && existsSync('/proc/self/fd');

/** Opens what the descriptor holds, wherever its name leads by now. */
export function pathOfDescriptor(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

/**
 * The absolute path of a name in a folder; '' is the folder itself. The file system's root already ends in a
 * slash.
 */
export function absoluteIn(folder: string, path: string): string {
  if (path === '') return folder;
  return folder.endsWith('/') || folder.endsWith(sep) ? folder + path : `${folder}/${path}`;
}

/**
 * @param root Absolute, with all links resolved.
 * @param canHold False checks before each use even where folders can be held. For tests.
 */
export function createHeldFolders(root: string, canHold = CAN_HOLD_FOLDERS): HeldFolders {
  return foldersFrom(canHold ? holdByDescriptor(root) : lookBeforeUse(root), root, '');
}

interface Holder {
  hold(folder: string, options: HoldOptions): Steps<HeldFolder>;
  close(): void;
}

function foldersFrom(holder: Holder, root: string, base: string): HeldFolders {
  const full = (folder: string) => (base === '' || folder === '' ? base + folder : `${base}/${folder}`);
  const relative = ({ onMake }: HoldOptions): HoldOptions =>
    onMake && base !== ''
      ? { onMake: (folder) => onMake(folder.slice(base.length + 1)) }
      : { ...(onMake ? { onMake } : {}) };
  return {
    path: absoluteIn(root, base),
    hold: (folder, options = {}) => run(holder.hold(full(folder), relative(options))),
    holdSync: (folder, options = {}) => runSync(holder.hold(full(folder), relative(options))),
    below: (folder) => foldersFrom(holder, root, full(folder)),
    close: () => holder.close(),
  };
}

interface DescriptorCache {
  /** The open folder, now with one more user, if it still belongs to its path. */
  kept(folder: string): Entry | undefined;
  /** Takes over a descriptor, with its first user. */
  keep(folder: string, fd: number): Entry;
  release(entry: Entry): void;
  /** Closes unused descriptors until at most this many are left. Returns whether there were any. */
  dropIdle(keptMax: number): boolean;
  close(): void;
}

/** Open descriptors of folders below `root`, reused for a short time. */
function createDescriptorCache(root: string): DescriptorCache {
  /** In order of use; the most recent is last. */
  const entries = new Map<string, Entry>();
  let timer: NodeJS.Timeout | undefined;
  let isUsed = false;

  const drop = (folder: string, entry: Entry) => {
    if (entries.get(folder) === entry) entries.delete(folder);
    entry.isDropped = true;
    if (entry.uses === 0) closeSync(entry.fd);
  };
  const dropIdle = (keptMax: number): boolean => {
    const hadAny = entries.size > 0;
    for (const [folder, entry] of entries) {
      if (entries.size <= keptMax) break;
      if (entry.uses === 0) drop(folder, entry);
    }
    return hadAny;
  };
  const tire = () => {
    timer = undefined;
    if (!isUsed) dropIdle(0);
    isUsed = false;
    if (entries.size > 0) timer = setTimeout(tire, KEPT_IDLE_MS).unref();
  };

  const kept = (folder: string): Entry | undefined => {
    const entry = entries.get(folder);
    if (!entry) return undefined;
    if (readlinkSync(pathOfDescriptor(entry.fd)) !== absoluteIn(root, folder)) {
      drop(folder, entry);
      return undefined;
    }
    entries.delete(folder);
    entries.set(folder, entry);
    isUsed = true;
    entry.uses += 1;
    return entry;
  };
  const release = (entry: Entry) => {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    if (entry.isDropped) closeSync(entry.fd);
    else if (entries.size > KEPT_MAX) dropIdle(KEPT_MAX);
  };
  const keep = (folder: string, fd: number): Entry => {
    // Another call may have opened it in the meantime.
    const other = kept(folder);
    if (other) {
      closeSync(fd);
      return other;
    }
    const entry: Entry = { fd, uses: 1, isDropped: false };
    entries.set(folder, entry);
    isUsed = true;
    timer ??= setTimeout(tire, KEPT_IDLE_MS).unref();
    return entry;
  };

  const close = () => {
    clearTimeout(timer);
    timer = undefined;
    dropIdle(0);
  };
  return { kept, keep, release, dropIdle, close };
}

function holdByDescriptor(root: string): Holder {
  const { close, dropIdle, keep, kept, release } = createDescriptorCache(root);

  function* find(folder: string, options: HoldOptions): Steps<Entry> {
    const known = kept(folder);
    if (known) return known;
    if (folder === '') return keep('', yield* openRoot());
    const above = folderAbove(folder);
    const parent = yield* find(above, options);
    try {
      const path = `${pathOfDescriptor(parent.fd)}/${folder.slice(above === '' ? 0 : above.length + 1)}`;
      const fd = yield* openPart({ folder, above, path }, options);
      try {
        if (isBelowTemporaryFolder(folder))
          checkTemporaryFolder(absoluteIn(root, folder), fstatSync(fd), fstatSync(parent.fd));
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      return keep(folder, fd);
    } finally {
      release(parent);
    }
  }

  /** The root's own path may have become a link, or lead through one, since it was resolved. */
  function* openRoot(): Steps<number> {
    const fd = yield* openPart({ folder: '', above: '', path: root }, {});
    if (readlinkSync(pathOfDescriptor(fd)) === root) return fd;
    closeSync(fd);
    throw linkOnTheWay(root);
  }

  function* openPart(
    { above, folder, path }: { readonly folder: string; readonly above: string; readonly path: string },
    { onMake }: HoldOptions,
  ): Steps<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (yield { call: 'open', path }) as number;
      } catch (error) {
        const code = codeOf(error);
        const isFull = code === 'EMFILE' || code === 'ENFILE';
        if (isFull && attempt === 1 && dropIdle(0)) continue;
        if (code === 'ENOENT' && onMake && attempt < MAKINGS_MAX) yield* make(path, () => onMake(above));
        else throw yield* orLink(error, { path, shown: absoluteIn(root, folder) });
      }
    }
  }

  return {
    *hold(folder, options) {
      const entry = yield* find(folder, options);
      const path = pathOfDescriptor(entry.fd);
      const done = () => release(entry);
      return {
        fd: entry.fd,
        at: (name) => `${path}/${name === '' ? '.' : name}`,
        release: done,
        [Symbol.dispose]: done,
      };
    },
    close,
  };
}

function lookBeforeUse(root: string): Holder {
  function* look(folder: string, { onMake }: HoldOptions): Steps<void> {
    const path = absoluteIn(root, folder);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const stats = (yield { call: 'lstat', path }) as {
          isDirectory(): boolean;
          isSymbolicLink(): boolean;
        };
        if (stats.isSymbolicLink()) throw linkOnTheWay(path);
        if (!stats.isDirectory()) throw Object.assign(new Error(`ENOTDIR: ${path}`), { code: 'ENOTDIR' });
        if (isBelowTemporaryFolder(folder))
          checkTemporaryFolder(path, lstatSync(path), lstatSync(`${path}/..`));
        return;
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || !onMake || attempt === MAKINGS_MAX) throw error;
        yield* make(path, () => onMake(folderAbove(folder)));
      }
    }
  }
  return {
    *hold(folder, options) {
      if (folder !== '') yield* look('', {});
      for (let slash = folder.indexOf('/'); slash > 0; slash = folder.indexOf('/', slash + 1))
        yield* look(folder.slice(0, slash), options);
      yield* look(folder, options);
      const path = absoluteIn(root, folder);
      return {
        fd: undefined,
        at: (name) => absoluteIn(path, name),
        release: () => {},
        [Symbol.dispose]: () => {},
      };
    },
    close: () => {},
  };
}

function* make(path: string, onMade: () => void): Steps<void> {
  try {
    yield { call: 'mkdir', path };
    onMade();
  } catch (error) {
    // Another process may have created it just now; the caller then checks what it is.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Opening a link fails with ELOOP, or with ENOTDIR because of O_DIRECTORY, as a file does. */
function* orLink(
  error: unknown,
  { path, shown }: { readonly path: string; readonly shown: string },
): Steps<unknown> {
  if (codeOf(error) !== 'ELOOP' && codeOf(error) !== 'ENOTDIR') return error;
  try {
    const found = (yield { call: 'lstat', path }) as { isSymbolicLink(): boolean };
    return found.isSymbolicLink() ? linkOnTheWay(shown) : error;
  } catch {
    return error;
  }
}

function linkOnTheWay(path: string): DrayError {
  return new DrayError(
    'unsafePath',
    `${path} is reached through a symbolic link, which Dray does not follow. Replace the link by a folder.`,
    { data: { path, reason: 'link' } },
  );
}

/** Whether a folder could not be held because a link is in its path. */
export function isLinkOnTheWay(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'unsafePath' && error.data.reason === 'link';
}

export function folderAbove(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

const openFolder = promisify(open) as (path: string, flags: number) => Promise<number>;
const CALLS = {
  open: (path: string) => openFolder(path, FOLDER_FLAGS),
  lstat: promisify(lstat) as (path: string) => Promise<ReturnType<typeof lstatSync>>,
  mkdir: promisify(mkdir) as (path: string) => Promise<undefined>,
};
const CALLS_SYNC = {
  open: (path: string) => openSync(path, FOLDER_FLAGS),
  lstat: (path: string) => lstatSync(path),
  mkdir: (path: string) => mkdirSync(path) as undefined,
};

async function run<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const { call, path } = step.value;
    let answer: Parameters<typeof steps.next>[0];
    try {
      answer = await CALLS[call](path);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

function runSync<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) {
    const { call, path } = step.value;
    let answer: Parameters<typeof steps.next>[0];
    try {
      answer = CALLS_SYNC[call](path);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
