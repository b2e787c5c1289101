/**
 * What goes wrong in one run of a command, in this process: a file that cannot be written, a store that
 * breaks down, a stop, or a kill. Counts the run's changes to the file system and its requests, as steps.
 *
 * A kill copies the workspace as it is at that moment, and lets nothing reach the store from then on. The run
 * ends by an error, and the copy takes the workspace's place: what the run did after the kill is gone.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DrayError } from '../../../engine/api/error.ts';
import type { ObjectStore, RemoteKey } from '../../../engine/remotes/object-store.ts';
import { wrapStore } from '../../../engine/remotes/wrappers/wrap-store.ts';

export type RunFault =
  | { readonly kind: 'none' }
  /** These objects are missing. */
  | { readonly kind: 'hidden'; readonly keys: ReadonlySet<RemoteKey> }
  /** Nothing can be made, replaced or removed in this folder. */
  | { readonly kind: 'readOnly'; readonly folder: string }
  /** The n-th change of the file system fails. */
  | { readonly kind: 'diskFull'; readonly at: number }
  /** From the n-th step on the store cannot be reached. */
  | { readonly kind: 'unreachable'; readonly at: number }
  /** The n-th step happens, if it is a request; the store cannot be reached from then on. */
  | { readonly kind: 'answerLost'; readonly at: number }
  | { readonly kind: 'stopped'; readonly at: number }
  | { readonly kind: 'killed'; readonly at: number }
  /** Killed when the store has moved a ref, and before the answer is there. */
  | { readonly kind: 'killedBehindRef' };

export interface FaultyRun {
  /** Whether the fault has had an effect. */
  isMet: boolean;
  /** Whatever it answers is never heard. */
  isKilled: boolean;
  readonly signal: AbortSignal;
}

interface ActiveRun extends FaultyRun {
  readonly root: string;
  readonly fault: RunFault;
  readonly controller: AbortController;
  steps: number;
  /** The copy of a killed run's workspace; null if there was none. */
  copy?: string | null;
}

let active: ActiveRun | undefined;

/** Runs the command on the workspace at `root`; others must wait meanwhile. */
export async function runWithFault<T>(
  root: string,
  fault: RunFault,
  command: (run: FaultyRun) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const run: ActiveRun = {
    root,
    fault,
    controller,
    signal: controller.signal,
    steps: 0,
    isMet: false,
    isKilled: false,
  };
  active = run;
  try {
    return await command(run);
  } finally {
    active = undefined;
    if (run.copy !== undefined) {
      fs.rmSync(root, { recursive: true, force: true });
      if (run.copy !== null) fs.renameSync(run.copy, root);
    }
  }
}

function step(): void {
  if (!active) return;
  active.steps += 1;
  const { fault } = active;
  if (!('at' in fault) || fault.at !== active.steps || active.isMet) return;
  if (fault.kind === 'stopped') {
    active.isMet = true;
    active.controller.abort();
  }
  if (fault.kind === 'killed') kill(active);
}

function kill(run: ActiveRun): void {
  run.isMet = true;
  run.isKilled = true;
  const { root } = run;
  run.copy = fs.existsSync(root) ? `${root}.killed` : null;
  if (run.copy !== null) copyTree(root, run.copy);
  run.controller.abort();
}

/** A store as the run sees it. @param onWritten Called for each object that was stored. */
export function faultyStore(inner: ObjectStore, onWritten: (key: RemoteKey) => void): ObjectStore {
  return wrapStore(inner, async (name, _signal, send, key) => {
    step();
    const { fault } = active ?? { fault: { kind: 'none' } as const };
    const isReached = active !== undefined && 'at' in fault && active.steps >= fault.at;
    const isDead = active?.copy !== undefined || (fault.kind === 'unreachable' && isReached);
    if (isDead || (fault.kind === 'answerLost' && active?.isMet)) {
      active!.isMet = true;
      throw unreachable();
    }
    if (fault.kind === 'hidden' && key !== undefined && fault.keys.has(key) && isRead(name)) {
      active!.isMet = true;
      return undefined as never;
    }
    const answer = await send();
    if (name === 'put' && key !== undefined) onWritten(key);
    if (fault.kind === 'killedBehindRef' && name === 'put' && key?.startsWith('refs/')) {
      kill(active!);
      throw unreachable();
    }
    if (fault.kind === 'answerLost' && isReached) {
      active!.isMet = true;
      throw unreachable();
    }
    return answer;
  });
}

function isRead(name: string): boolean {
  return name === 'head' || name === 'get' || name === 'read';
}

function unreachable(): DrayError {
  return new DrayError('unreachable', 'The connection broke.');
}

/** The lock's process is this one, which lives. */
function copyTree(from: string, to: string): void {
  const plain = originals;
  plain.mkdirSync(to);
  for (const item of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, item.name), join(to, item.name)];
    if (item.isDirectory()) copyTree(source, target);
    else if (item.name.startsWith('lock') || item.name.endsWith('-shm')) continue;
    else if (item.isSymbolicLink()) plain.symlinkSync(fs.readlinkSync(source), target);
    // SQLite writes into its files; all others are replaced as a whole, and keep their inode this way.
    else if (item.name.startsWith('index.db')) plain.copyFileSync(source, target);
    else plain.linkSync(source, target);
  }
}

const originals = {
  copyFileSync: fs.copyFileSync,
  linkSync: fs.linkSync,
  mkdirSync: fs.mkdirSync,
  symlinkSync: fs.symlinkSync,
};

const CHANGES = ['rmdir', 'rm', 'unlink', 'rename', 'link', 'symlink', 'copyFile', 'truncate'];
const WRITES = ['ftruncate', 'write', 'writev', 'writeFile', 'appendFile', 'fsync', 'chmod', 'fchmod'];

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;

/** Wraps the calls that change the file system, for the life of this process. */
export function installFaultyCalls(): void {
  const holders = [fs, fs.promises] as unknown as Record<string, unknown>[];
  for (const holder of holders)
    for (const ending of ['', 'Sync']) {
      for (const name of [...CHANGES, ...WRITES]) wrap(holder, name + ending, () => true);
      // A folder that is there needs no right and no room.
      wrap(holder, `mkdir${ending}`, ([path]) => !fs.existsSync(path as string));
      wrap(holder, `open${ending}`, creates);
    }
  syncBuiltinESMExports();
}

function wrap(
  holder: Record<string, unknown>,
  name: string,
  isChange: (values: readonly unknown[]) => boolean,
): void {
  const original = holder[name];
  if (typeof original !== 'function') return;
  const isRemoval = /^(rm|unlink)/.test(name);
  const stepping: AnyFunction = function (this: unknown, ...values) {
    const error =
      active && active.copy === undefined && isChange(values)
        ? takeStep(active, values, isRemoval)
        : undefined;
    if (!error) return Reflect.apply(original, this, values);
    const done = values.at(-1);
    if (typeof done !== 'function') throw error;
    queueMicrotask(() => done(error));
    return undefined;
  };
  holder[name] = Object.defineProperties(stepping, Object.getOwnPropertyDescriptors(original));
}

/** The error by which the change fails, if it does. */
function takeStep(run: ActiveRun, values: readonly unknown[], isRemoval: boolean): Error | undefined {
  step();
  const { fault, steps } = run;
  if (fault.kind === 'diskFull' && steps === fault.at && !isRemoval) {
    run.isMet = true;
    return systemError('ENOSPC', 'no space left on device');
  }
  if (fault.kind !== 'readOnly') return undefined;
  const isInside = (path: unknown) => typeof path === 'string' && isDirectlyIn(fault.folder, path);
  if (!values.slice(0, 2).some(isInside)) return undefined;
  run.isMet = true;
  return systemError('EACCES', 'permission denied');
}

/** The folder itself counts: a file without a name is opened there. */
function isDirectlyIn(folder: string, path: string): boolean {
  return path === folder || (path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes('/'));
}

function systemError(code: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code, errno: -1, syscall: 'open' });
}

/** True when the call may create a file: text flags except 'r', or a number with O_CREAT or O_TMPFILE. */
function creates([, flags]: readonly unknown[]): boolean {
  const making = fs.constants.O_CREAT | 0o20000000;
  return typeof flags === 'number' ? (flags & making) !== 0 : flags !== undefined && flags !== 'r';
}
