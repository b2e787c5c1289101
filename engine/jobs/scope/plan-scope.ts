/** What a change of scope would fetch and remove. Writes nothing into the workspace. */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { ScopePlan, ScopePlanRequest } from '../../api/jobs/scope.ts';
import type { OutsideFiles } from '../../api/jobs/workspace-scope.ts';
import type { Entry } from '../../model/entry.ts';
import { compileScope, type Scope } from '../../model/scope.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { whileKept } from '../retention/forgotten.ts';
import { ensureBase, fetchCommit, hasBaseRows } from '../session/base/base-commit.ts';
import { linkRepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { addTotals } from '../session/traffic.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { lstatIfThere } from '../working-copy/apply-changes.ts';
import { hashFiles, undecidedFiles } from '../working-copy/hash-files.ts';
import { refreshIndex } from '../working-copy/refresh-index.ts';
import { findObstacles } from '../working-copy/unscanned-obstacles.ts';
import { findLeaving, wholeOf, withoutFolders } from './narrow-scope.ts';
import { checkChange, type Only, reachesBeyond, requireCommonBase, union, withScope } from './scope-run.ts';
import { watchUnmatched } from './unmatched-patterns.ts';

const NAMED_MAX = 20;

export async function planScope(context: JobContext, request: ScopePlanRequest): Promise<ScopePlan> {
  using session = await openSession(context, 'scope', 'snapshot');
  const only = request.only ?? undefined;
  checkChange(session, only);
  // What a killed run was removing is still to be removed.
  session.state = withScope(session.state, wholeOf(session));
  const held = session.state.scope?.only;
  const needsRemote = reachesBeyond(only, held) || !hasBaseRows(session);
  await using remote = needsRemote ? await openSessionRemote(session) : undefined;
  const entering = remote ? await planEntering(session, remote, only) : NOTHING;
  return {
    only: only ?? null,
    ...entering,
    ...(await planLeaving(session, only)),
    requests: addTotals(remote ? [remote.meter] : []),
  };
}

type Entering = Pick<ScopePlan, 'fetched' | 'downloadedBytes' | 'inTheWay' | 'unmatched'>;

const NOTHING: Entering = { fetched: 0, downloadedBytes: 0, inTheWay: namedOf([]), unmatched: [] };

async function planEntering(session: Session, { store }: OpenedRemote, only: Only): Promise<Entering> {
  const { signal } = session.context;
  const link = await linkRepository(session, store, session.state.branch);
  requireCommonBase(session, link);
  const { hash } = await ensureBase(session, store, link);
  const held = scopeOf(session);
  if (!hash || !held) return NOTHING;
  const commit = await fetchCommit(session, store, hash);
  const next = only && compileScope(only);
  const scope = only && compileScope(union(held.patterns, only));
  const unmatched = watchUnmatched(only?.filter((pattern) => !held.patterns.includes(pattern)));
  let [fetched, downloadedBytes] = [0, 0];
  const obstacles: string[] = [];
  const read = async () => {
    for await (const page of readEntries(store, commit, { scope, signal })) {
      unmatched.see(page);
      const absent = page.filter((entry) => enters(entry, held, next) && !isHere(session, entry));
      fetched += absent.length;
      for (const entry of absent) downloadedBytes += entry.kind === 'file' ? entry.sizeBytes : 0;
      obstacles.push(...obstaclesTo(session, absent));
    }
  };
  await whileKept(store, hash, read, { signal, isBase: true });
  return { fetched, downloadedBytes, inTheWay: namedOf(obstacles), unmatched: unmatched.left() };
}

function enters({ kind, path }: Entry, held: Scope, next: Scope | undefined): boolean {
  return kind !== 'folder' && !held.holds(path) && (next?.holds(path) ?? true);
}

/** What an unfinished widening left is brought to the base, so it is none. */
function obstaclesTo(session: Session, entries: readonly Entry[]): readonly string[] {
  if (session.state.scope?.entering) return [];
  return findObstacles(
    session,
    entries.map((after) => ({ path: after.path, after })),
  ).map(({ path }) => path);
}

function namedOf(paths: readonly string[]): OutsideFiles {
  return { count: paths.length, paths: paths.slice(0, NAMED_MAX) };
}

/** By its size alone. */
function isHere({ workspace }: Session, entry: Entry): boolean {
  const now = lstatIfThere(workspace.root, entry.path);
  return now !== undefined && (entry.kind !== 'file' || now.size === entry.sizeBytes);
}

async function planLeaving(
  session: Session,
  only: Only,
): Promise<Pick<ScopePlan, 'removed' | 'freedBytes' | 'unpushed'>> {
  if (!only || !reachesBeyond(session.state.scope?.only, only))
    return { removed: 0, freedBytes: 0, unpushed: namedOf([]) };
  await refreshIndex(session);
  await hashFiles(session, undecidedFiles(session));
  const { bytes, unchanged, unpushed } = findLeaving(session, only, { goesOn: false });
  return {
    removed: withoutFolders(unchanged).length,
    freedBytes: bytes,
    unpushed: namedOf(unpushed),
  };
}
