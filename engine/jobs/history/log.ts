/** `dray log`: the ancestors of a ref, newest first, merges included; or those that changed a path. */
import { DrayError } from '../../api/error.ts';
import type { CommitEvent } from '../../api/events.ts';
import type { JobContext, LogRequest, LogSummary } from '../../api/jobs/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readOrEnd } from '../../repository/history-end.ts';
import { listRefs } from '../../repository/refs.ts';
import { readForgotten } from '../retention/forgotten.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { detachedField } from '../session/branch/detached.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveCommit } from '../session/resolve-commit.ts';
import { toWorkspacePath } from '../session/workspace-path.ts';
import { type PathChange, type Walk, walkPathHistory } from './path-history.ts';

/**
 * @param walk For the history of a path: bounds the reading, and says how far it came. Given a `rest`, it
 * continues there.
 */
export async function log(
  context: JobContext,
  request: LogRequest,
  walk: Walk = { walked: 0, max: Number.POSITIVE_INFINITY, isCut: false, rest: [] },
): Promise<LogSummary> {
  using session = await openSession(context, 'log', 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const { path, start } = await findStart(session, store, request);
  const { forgotten, names } = await readNames(session, store);
  const { limit } = request;
  const isResumed = walk.rest.length > 0;
  const starts = isResumed ? walk.rest : [start];
  const ends = new Set<CommitHash>();
  const found =
    path === undefined
      ? walkAll(session, store, starts, (hash) => ends.add(hash))
      : walkPathHistory(session, store, starts, { path, forgotten, onEnd: (hash) => ends.add(hash) }, walk);
  let commits = 0;
  let isMore = false;
  for await (const one of found) {
    isMore = commits === limit;
    if (isMore) break;
    commits += 1;
    context.emit({ ...commitEvent(one, forgotten), refs: names.get(one.hash) ?? [] });
  }
  isMore ||= walk.isCut;
  if (!isMore) for (const hash of ends) warnOfEnd(context, hash);
  if (commits === 0 && path !== undefined && !isMore && !isResumed) throw neverThere(path);
  return { commits, isMore, ...(request.ref === undefined ? detachedField(session) : {}) };
}

/** The commits before it are not shown, nor kept because of it. */
export function warnOfEnd({ emit }: Pick<JobContext, 'emit'>, hash: CommitHash): void {
  const message = `History ends at ${hash}, whose record is lost: somebody has decided so.`;
  emit({ type: 'warning', warning: 'historyEnds', message });
}

/** A ref takes precedence over a path of the same name. */
async function findStart(session: Session, store: ObjectStore, request: LogRequest) {
  const { isPerhapsPath = false, path, ref = session.state.branch } = request;
  const inside = path === undefined ? undefined : toWorkspacePath(session, path);
  try {
    return { start: await resolveCommit(session, store, ref), path: inside };
  } catch (error) {
    const isUnknown = error instanceof DrayError && error.code === 'notFound';
    if (!isPerhapsPath || !isUnknown || request.ref === undefined || inside !== undefined) throw error;
    const { branch } = session.state;
    return { start: await resolveCommit(session, store, branch), path: toWorkspacePath(session, ref) };
  }
}

function neverThere(path: string): DrayError {
  const message = `No branch, tag or commit is called ${JSON.stringify(path)}, and no commit of the history has a file or folder there.`;
  return new DrayError('notFound', message, { data: { path } });
}

type Found = Pick<PathChange, 'hash'> &
  Partial<Pick<PathChange, 'change' | 'sizeBytes'>> & { readonly commit: Omit<Commit, 'manifest'> };

/** The event of a commit, without the names of its refs, which the caller adds. */
export function commitEvent(
  { change, commit, hash, sizeBytes }: Found,
  forgotten: ReadonlySet<CommitHash>,
): Omit<CommitEvent, 'refs'> {
  const { author, message, parents, time, totals } = commit;
  const { bytes, files } = totals;
  return {
    type: 'commit',
    commit: hash,
    parents,
    author,
    message,
    time,
    files,
    bytes,
    ...(forgotten.has(hash) ? { isForgotten: true } : {}),
    ...(change === undefined ? {} : { change }),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
  };
}

async function* walkAll(...of: Parameters<typeof walkHistory>): AsyncGenerator<Found> {
  for await (const [hash, commit] of walkHistory(...of)) yield { hash, commit };
}

/** All ancestors of the given commits and these commits, newest first, each once. One GET for each. */
export async function* walkHistory(
  session: Session,
  store: ObjectStore,
  starts: readonly CommitHash[],
  onEnd?: (hash: CommitHash) => void,
): AsyncGenerator<readonly [CommitHash, Commit]> {
  const seen = new Set<CommitHash>(starts);
  const load = async (hash: CommitHash) => [hash, await fetchCommit(session, store, hash)] as const;
  const { signal } = session.context;
  const loadParent = async (hash: CommitHash) => {
    const found = await readOrEnd(store, hash, () => load(hash), { signal });
    if (!found) onEnd?.(hash);
    return found ? [found] : [];
  };
  const open = await Promise.all([...seen].map(load));
  while (open.length > 0) {
    open.sort(([, left], [, right]) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
    const next = open.shift()!;
    yield next;
    const parents = next[1].parents.filter((parent) => !seen.has(parent));
    for (const parent of parents) seen.add(parent);
    open.push(...(await Promise.all(parents.map(loadParent))).flat());
  }
}

interface Names {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly forgotten: ReadonlySet<CommitHash>;
}

async function readNames(session: Session, store: ObjectStore): Promise<Names> {
  const options = { signal: session.context.signal };
  const [branches, tags] = await Promise.all([
    listRefs(store, 'heads', options),
    listRefs(store, 'tags', options),
  ]);
  const names = new Map<string, string[]>();
  for (const ref of [...branches, ...tags]) {
    const name = ref.name.startsWith('heads/')
      ? ref.name.slice('heads/'.length)
      : `tag: ${ref.name.slice('tags/'.length)}`;
    names.set(ref.commit, [...(names.get(ref.commit) ?? []), name]);
  }
  return { names, forgotten: await readForgotten(store, [...branches, ...tags], options) };
}
