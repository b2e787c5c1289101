/** What most jobs begin with: the workspace, its lock, its index, and a connection to one of its remotes. */
import { DrayError } from '../api/error.ts';
import type { JobContext } from '../api/jobs.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { type Index, openIndex } from '../index/open-index.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { openRemote, resolveLocation } from '../remotes/open-remote.ts';
import { formatRemoteUrl, parseRemoteUrl } from '../remotes/remote-url.ts';
import { createMeter, type Meter } from '../remotes/with-meter.ts';
import {
  readConfig,
  readState,
  requireWorkspace,
  type WorkspaceConfig,
  type WorkspaceFolder,
  type WorkspaceState,
  writeConfig,
  writeState,
} from '../workspace/workspace-folder.ts';
import { describeHolder, lockWorkspace } from '../workspace/workspace-lock.ts';

const LOCK_PATIENCE_MS = 10_000;

export interface Session {
  readonly context: JobContext;
  readonly workspace: WorkspaceFolder;
  readonly index: Index;
  readonly clock: Clock;
  readonly remoteName: string;
  config: WorkspaceConfig;
  state: WorkspaceState;
  /** Replaces `.dray/config.json`. */
  saveConfig(config: WorkspaceConfig): void;
  /** Replaces `.dray/state.json`. */
  saveState(state: WorkspaceState): void;
  close(): void;
}

export interface Connection {
  readonly store: ObjectStore;
  readonly meter: Meter;
  readonly url: string;
}

/** Opens the workspace around `context.directory` and takes its lock; `command` is what a waiter is told. */
export async function openSession(context: JobContext, command: string): Promise<Session> {
  return openWorkspaceSession(context, command, requireWorkspace(context.directory));
}

export async function openWorkspaceSession(
  context: JobContext,
  command: string,
  workspace: WorkspaceFolder,
): Promise<Session> {
  const clock = systemClock;
  const lock = await lockWorkspace({
    path: workspace.lockPath,
    command,
    clock,
    signal: context.signal,
    patienceMs: LOCK_PATIENCE_MS,
    onWait: (holder) =>
      context.emit({
        type: 'warning',
        warning: 'waitingForLock',
        message: `Waiting for ${describeHolder(holder)} to finish in this workspace.`,
      }),
  });
  try {
    const config = readConfig(workspace);
    const state = readState(workspace);
    const { index, rebuiltBecause } = openIndex(workspace.indexPath);
    if (rebuiltBecause !== undefined) {
      context.emit({
        type: 'warning',
        warning: 'indexRebuilt',
        message: `The index was damaged (${rebuiltBecause}) and is rebuilt: files are read again. No data is lost; the old file is ${workspace.indexPath}.damaged.`,
      });
    }
    const session: Session = {
      context,
      workspace,
      index,
      clock,
      remoteName: chooseRemote(config, context.remoteName),
      config,
      state,
      saveConfig: (next) => {
        writeConfig(workspace, next);
        session.config = next;
      },
      saveState: (next) => {
        writeState(workspace, next);
        session.state = next;
      },
      close: () => {
        index.close();
        lock.release();
      },
    };
    return session;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Connects to the session's remote. The caller closes `store`. */
export async function connect(session: Session): Promise<Connection> {
  const remote = session.config.remotes[session.remoteName]!;
  return connectUrl(session.context, remote.url, session.workspace.root);
}

export interface ConnectOptions {
  readonly create?: boolean;
}

/** Connects to a URL; relative paths are taken from `baseFolder`. */
export async function connectUrl(
  context: JobContext,
  url: string,
  baseFolder: string,
  options: ConnectOptions = {},
): Promise<Connection> {
  const parsed = parseRemoteUrl(url, baseFolder);
  const meter = createMeter();
  const store = await openRemote(parsed, {
    connection: context.connection,
    environment: context.environment,
    meter,
    ...(options.create ? { create: true } : {}),
  });
  return { store, meter, url };
}

/**
 * The URL as a workspace keeps it: absolute, with what the flags said about the place (endpoint, region, profile), so that
 * later commands need no flags. Never a secret.
 */
export function urlToKeep(context: JobContext, url: string, baseFolder: string): string {
  const parsed = parseRemoteUrl(url, baseFolder);
  if (parsed.kind === 'file') return formatRemoteUrl(parsed);
  return formatRemoteUrl({ ...parsed, ...resolveLocation(parsed, context.connection) });
}

function chooseRemote(config: WorkspaceConfig, wanted: string | undefined): string {
  const name = wanted ?? config.defaultRemote;
  if (config.remotes[name]) return name;
  const known = Object.keys(config.remotes).join(', ') || 'none';
  throw new DrayError('usage', `There is no remote "${name}". Known remotes: ${known}. Add one with "dray remote add NAME URL".`, {
    data: { remote: name },
  });
}
