/**
 * Finds incoming commits. Each remote and branch takes one request, a read of the branch's ref. If the branch
 * has moved, its new commits are read to count them. All windows share the answers, which stay in memory; an
 * error is kept beside the last answer. No folder is scanned: the counts of outgoing changes come from other
 * requests.
 */
import { DrayError, type ErrorRecord, toErrorRecord } from '../api/error.ts';
import type { IncomingLook } from '../api/host/home.ts';
import { missingPasswordOf } from '../api/text/missing-keys.ts';
import { Budget } from '../base/budget.ts';
import {
  knownOf,
  openRepositoryAt,
  parseGivenUrl,
  type RepositoryOptions,
} from '../jobs/session/opened-remote.ts';
import { allowedBy } from '../jobs/session/user-remotes.ts';
import type { CommitHash } from '../model/entry.ts';
import { readRef } from '../repository/refs.ts';
import { findWorkspace, readConfig, readState } from '../workspace/workspace-folder.ts';
import { type CountedTip, countIncoming } from './count-incoming.ts';
import type { HostState } from './host-state.ts';
import { outgoingOf } from './outgoing.ts';
import { type HostCall, jobContextOf } from './port/host-call.ts';

/** The most recently used workspaces. The others are checked when they are opened. */
const WORKSPACES_MAX = 100;
const REQUESTS_AT_ONCE = 6;
/** A remote that does not answer must not delay the others. */
const PATIENCE_MS = 20_000;
/** Nor may a long count. The next look continues it. */
const COUNT_PATIENCE_MS = 5_000;

const SILENT = `The remote did not answer within ${PATIENCE_MS / 1000} s.`;

/** A branch of a remote as a workspace has it. */
interface Followed {
  readonly root: string;
  readonly url: string;
  readonly branch: string;
  readonly base: CommitHash | undefined;
  /** The base was in the history of this branch. */
  readonly isSeen: boolean;
  readonly known: RepositoryOptions['known'] | undefined;
}

interface Known {
  /** Null if the branch does not exist yet. Undefined before the first answer. */
  readonly tip?: string | null;
  readonly answeredMs?: number;
  readonly askedMs: number;
  /** The bases at the time of the request. A push or pull changes a base, and makes the answer stale. */
  readonly bases: ReadonlySet<CommitHash | undefined>;
  readonly counted?: CountedTip;
  readonly failure?: ErrorRecord;
}

const KNOWN = new WeakMap<HostState, Map<string, Known>>();

/** @param maxAgeMs Younger answers are reused. Undefined: no request is sent. */
export async function lookForIncoming(
  call: HostCall,
  maxAgeMs: number | undefined,
): Promise<readonly IncomingLook[]> {
  const { host } = call;
  const known = KNOWN.get(host) ?? new Map<string, Known>();
  KNOWN.set(host, known);
  const followed = host.windowFile
    .read()
    .workspaces.slice(0, WORKSPACES_MAX)
    .flatMap((root) => followedBy(host, root) ?? []);
  const remotes = Map.groupBy(followed, keyOf);
  const room = new Budget(REQUESTS_AT_ONCE);
  const looks = [...remotes].map(async ([key, workspaces]) => {
    const before = known.get(key);
    const isFresh =
      before &&
      host.clock.nowMs() - before.askedMs < (maxAgeMs ?? 0) &&
      !isUnlocked(host, before) &&
      workspaces.every(({ base }) => before.bases.has(base));
    if (maxAgeMs === undefined || isFresh) return;
    using _permit = await room.acquire(1, call.signal);
    known.set(key, await ask(call, workspaces, before));
  });
  await Promise.all(looks);
  for (const key of known.keys()) if (!remotes.has(key)) known.delete(key);
  return followed.map((workspace) => {
    const outgoing = outgoingOf(host, workspace.root, workspace.base);
    return {
      ...answerFor(workspace, known.get(keyOf(workspace))),
      ...(outgoing === undefined ? {} : { outgoing }),
    };
  });
}

/** Its failure was a missing password, which has been typed since. */
function isUnlocked({ masterKeys }: HostState, { failure }: Known): boolean {
  const locked = failure && missingPasswordOf(failure);
  return locked !== undefined && masterKeys.find(locked) !== undefined;
}

async function ask(
  call: HostCall,
  workspaces: readonly Followed[],
  before: Known | undefined,
): Promise<Known> {
  const { branch, known, root, url } = workspaces[0]!;
  const { clock } = call.host;
  const bases = new Set(workspaces.map(({ base }) => base));
  const askedMs = clock.nowMs();
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    const context = jobContextOf(call, root, { emit: () => {}, signal });
    await using remote = await openRepositoryAt(context, parseGivenUrl(context, url, root), {
      attemptsMax: 1,
      ...(known && { known }),
    });
    const { store } = remote;
    const tip = (await readRef(store, `heads/${branch}`, { signal }))?.commit;
    const answer = { tip: tip ?? null, answeredMs: clock.nowMs(), askedMs, bases };
    if (tip === undefined) return answer;
    const counted = await countIncoming(remote, {
      tip,
      bases,
      before: before?.counted,
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(COUNT_PATIENCE_MS)]),
    });
    call.signal.throwIfAborted();
    return { ...answer, counted };
  } catch (error) {
    // An aborted request is no failure of the remote.
    if (call.signal.aborted) throw error;
    const failure = signal.aborted ? new DrayError('unreachable', SILENT, { cause: error }) : error;
    return { ...before, askedMs, bases, failure: toErrorRecord(failure) };
  }
}

function answerFor({ base, isSeen, root }: Followed, known: Known | undefined): IncomingLook {
  const { answeredMs, askedMs, bases, counted, failure, tip } = known ?? {};
  const isOld = bases === undefined || !bases.has(base);
  const incoming = !isOld && counted?.tip === tip ? counted?.counts.get(base) : undefined;
  return {
    root,
    ...(tip === undefined || isOld ? {} : { hasIncoming: tip !== null && tip !== base }),
    ...(tip === null && !isOld && isSeen ? { isGone: true } : {}),
    ...(incoming ? { incoming } : {}),
    ...(answeredMs === undefined ? {} : { answeredAt: new Date(answeredMs).toISOString() }),
    ...(failure && askedMs !== undefined ? { failure, failedAt: new Date(askedMs).toISOString() } : {}),
  };
}

function followedBy(host: HostState, root: string): Followed | undefined {
  try {
    const workspace = findWorkspace(root, allowedBy(host));
    if (workspace?.root !== root) return undefined;
    const { defaultRemote, remotes } = readConfig(workspace);
    const { bases, branch, cloning, follows } = readState(workspace);
    const remote = remotes[defaultRemote];
    if (!remote || cloning) return undefined;
    const base = bases[defaultRemote] as CommitHash | undefined;
    const isSeen = base !== undefined && follows?.[defaultRemote] === branch;
    return { root, url: remote.url, branch, base, isSeen, known: knownOf(remote).known };
  } catch {
    // The workspace's card reports that the folder is gone.
    return undefined;
  }
}

function keyOf({ branch, url }: Followed): string {
  return JSON.stringify([url, branch]);
}
