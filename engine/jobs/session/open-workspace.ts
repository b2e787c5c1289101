/** Opens the workspace with its lock and its index. Most jobs start here. */
import { accessSync, constants, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { newOwnName } from '../../base/replace-file.ts';
import { JOURNAL_SUFFIXES } from '../../index/open-database.ts';
import { copyFrozenIndex, copyIndex, type Index, openIndex } from '../../index/open-index.ts';
import {
  makeFolder,
  readConfig,
  readState,
  requireWorkspace,
  type WorkspaceConfig,
  type WorkspaceFolder,
  type WorkspaceState,
  writeConfig,
  writeState,
} from '../../workspace/workspace-folder.ts';
import {
  describeHolder,
  type LockHolder,
  lockWorkspace,
  type WorkspaceLock,
} from '../../workspace/workspace-lock.ts';
import { allowedBy } from './user-remotes.ts';

const LOCK_PATIENCE_MS = 10_000;

/** Its end, by `using`, closes the index and releases the lock. */
export interface Session extends Disposable {
  readonly context: JobContext;
  readonly workspace: WorkspaceFolder;
  readonly index: Index;
  readonly clock: Clock;
  readonly remoteName: string;
  config: WorkspaceConfig;
  state: WorkspaceState;
  /**
   * Replaces `.dray/config.json`. Without the lock the change stays in this session; the lock's holder may be
   * saving its own.
   */
  saveConfig(config: WorkspaceConfig): void;
  /** Replaces `.dray/state.json`. */
  saveState(state: WorkspaceState): void;
}

/**
 * How a job uses the workspace.
 * - `exclusive`: it writes. One job at a time; the others wait.
 * - `shared`: it reads data that other jobs only add to (commits, refs, settings), and never waits.
 * - `snapshot`: it scans and records what it finds. While another job holds the lock it works on a copy of
 *   the index, because that job relies on its own rows.
 *
 * `shared` and `snapshot` also read a read-only workspace, on a copy of its index.
 */
export type WorkspaceAccess = 'exclusive' | 'shared' | 'snapshot';

/** Opens the workspace around `context.directory`. `command` names this job to commands that wait for it. */
export async function openSession(
  context: JobContext,
  command: string,
  access: WorkspaceAccess = 'exclusive',
): Promise<Session> {
  return openWorkspaceSession(
    context,
    command,
    requireWorkspace(context.directory, allowedBy(context)),
    access,
  );
}

export async function openWorkspaceSession(
  context: JobContext,
  command: string,
  workspace: WorkspaceFolder,
  access: WorkspaceAccess = 'exclusive',
): Promise<Session> {
  const isFrozen = access !== 'exclusive' && !isWritable(dirname(workspace.indexPath));
  const isLocked = access !== 'shared' && !isFrozen;
  const lock = isLocked ? await takeLock(context, command, workspace, access) : undefined;
  const isCopy = isFrozen || (access === 'snapshot' && lock === undefined);
  const copyPath = isCopy ? newOwnName(tmpdir(), 'dray-index-') : undefined;
  const cleanUp = () => {
    if (copyPath) for (const suffix of ['', ...JOURNAL_SUFFIXES]) rmSync(copyPath + suffix, { force: true });
    lock?.release();
  };
  try {
    const config = readConfig(workspace);
    const state = readState(workspace);
    // A folder without files, which backups and clean-ups like to leave out.
    if (lock && !existsSync(workspace.temporaryFolder)) makeFolder(workspace.temporaryFolder);
    const remoteName = chooseRemote(config, context.remoteName);
    if (copyPath) (isFrozen ? copyFrozenIndex : copyIndex)(workspace.indexPath, copyPath);
    const { index, isNew, rebuiltBecause } = openIndex(copyPath ?? workspace.indexPath);
    if (rebuiltBecause !== undefined) reportDamaged(context, workspace, rebuiltBecause);
    else if (isNew && Object.keys(state.bases).length > 0) reportMissing(context);
    const session: Session = {
      context,
      workspace,
      index,
      clock: systemClock,
      remoteName,
      config,
      state,
      saveConfig: (next) => {
        if (lock) writeConfig(workspace, next);
        session.config = next;
      },
      saveState: (next) => {
        writeState(workspace, next);
        session.state = next;
      },
      [Symbol.dispose]: () => {
        try {
          index.close();
        } finally {
          cleanUp();
        }
      },
    };
    return session;
  } catch (error) {
    cleanUp();
    throw error;
  }
}

/** A reader also works in a folder on a read-only disk, or in one of another user. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined when another command holds the lock and a snapshot is enough. */
async function takeLock(
  context: JobContext,
  command: string,
  workspace: WorkspaceFolder,
  access: 'exclusive' | 'snapshot',
): Promise<WorkspaceLock | undefined> {
  const isPatient = access === 'exclusive';
  const reportWait = (holder: LockHolder | undefined) => {
    const message = isPatient
      ? `Waiting for ${describeHolder(holder)} to finish in this workspace.`
      : `${describeHolder(holder)} works in this workspace; this shows what it has recorded so far.`;
    context.emit({ type: 'warning', warning: isPatient ? 'waitingForLock' : 'workspaceBusy', message });
  };
  try {
    return await lockWorkspace({
      path: workspace.lockPath,
      command,
      clock: systemClock,
      signal: context.signal,
      patienceMs: isPatient ? LOCK_PATIENCE_MS : 0,
      onWait: reportWait,
    });
  } catch (error) {
    if (isPatient || !(error instanceof DrayError) || error.code !== 'locked') throw error;
    return undefined;
  }
}

function reportDamaged(context: JobContext, workspace: WorkspaceFolder, because: string): void {
  context.emit({
    type: 'warning',
    warning: 'indexRebuilt',
    message: `The index was damaged (${because}) and is rebuilt: files are read again. No data is lost; the old file is ${workspace.indexPath}.damaged.`,
  });
}

/** Emitted only when the index must have existed before: the workspace has a base commit. */
function reportMissing(context: JobContext): void {
  context.emit({
    type: 'warning',
    warning: 'indexRebuilt',
    message: 'The index was missing and is rebuilt: files are read again. No data is lost.',
  });
}

function chooseRemote(config: WorkspaceConfig, wanted: string | undefined): string {
  const name = wanted ?? config.defaultRemote;
  if (Object.hasOwn(config.remotes, name)) return name;
  const known = Object.keys(config.remotes).join(', ') || 'none';
  throw new DrayError('usage', `There is no remote "${name}". Known remotes: ${known}.`, {
    data: { remote: name, reason: 'noRemote' },
    advice: 'Add one with "dray remote add NAME URL".',
  });
}
