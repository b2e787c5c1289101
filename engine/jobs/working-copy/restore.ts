/**
 * `dray restore`: brings named paths back as a commit has them. It replaces the working copy's own content at
 * these paths, unless changes are to be kept. With `exact` it also removes what the commit lacks there.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext, RestorePlan, RestoreRequest, RestoreSummary } from '../../api/jobs/jobs.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { openLocalKeeper } from '../kept/local-keeper.ts';
import { settleUnconfirmedPush } from '../push/unconfirmed-push.ts';
import { whileKept } from '../retention/forgotten.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import { type BaseCommit, ensureBase, fetchCommit } from '../session/base/base-commit.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { requireBase, resolveContent } from '../session/resolve-commit.ts';
import { toWorkspacePath } from '../session/workspace-path.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { applyAsEdits } from './apply-as-edits.ts';
import { isAsKnown } from './apply-changes.ts';
import { readBased } from './based-entries.ts';
import { hashFiles, undecidedFiles } from './hash-files.ts';
import { settleCutRuns } from './interrupted-writes.ts';
import { findNameTwins, type NameTwins } from './name-twins.ts';
import { refreshIndex } from './refresh-index.ts';
import { createLeavingOut, leaveOut } from './unheld-entries.ts';

const NAMED_MAX = 20;

export async function restore(context: JobContext, request: RestoreRequest): Promise<RestoreSummary> {
  return withDiffering(context, request, async (found) => {
    const { differing, extra, hash, link, remote, session } = found;
    const plan = planOf(found, request);
    if (request.keepsChanges && plan.changed > 0) throw wouldLose(plan);
    const paths = [...differing.map(({ path }) => path), ...extra];
    const changed = new Set(paths.filter((path) => isChanged(session, path)));
    const leavingOut = createLeavingOut(session, found.twins);
    const applied = await applyAsEdits({
      session,
      remote,
      link,
      writing: { commit: hash, words: wordsOf(request) },
      deletions: extra,
      writes: leavingOut.withoutTwins(differing),
      leavingOut,
      // A change made while this runs is kept as well.
      ...(request.keepsChanges ? {} : { givenUp: new Set(paths) }),
      keeper: openLocalKeeper({
        session,
        words: wordsOf(request),
        deletions: new Set(extra),
        // Committed content need not be kept.
        isMeant: (path) => changed.has(path) || !isAsKnown(session, path),
      }),
    });
    if (applied.failed === 0) await settleCutRuns(session, remote.store, applied.base);
    const stayed = extra.filter((path) => session.index.files.find(path, 0)?.after !== undefined).length;
    // The branch is not what is restored: nothing is recorded.
    const left = leaveOut(session, leavingOut, false);
    const restored = differing.length - (applied.failed - stayed) - left;
    const removed = request.exact ? { removed: extra.length - stayed } : {};
    return { restored, ...removed, bytes: applied.bytes, failed: applied.failed + left, ...applied.keeping };
  });
}

/** The changes that `restore` would make. Only the index is updated, by the scan. */
export async function planRestore(context: JobContext, request: RestoreRequest): Promise<RestorePlan> {
  return withDiffering(context, request, async (found) => planOf(found, request));
}

/** The command line to type again. */
function wordsOf({ exact, from, paths }: RestoreRequest): string {
  const options = [...(from === undefined ? [] : ['--from', from]), ...(exact ? ['--exact'] : [])];
  return ['restore', ...paths, ...options].map(shellWord).join(' ');
}

interface Differing {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
  readonly hash: CommitHash;
  /** Entries of the commit that the working copy does not have. */
  readonly differing: readonly Entry[];
  /** With `exact`: paths of the working copy that the commit lacks. */
  readonly extra: readonly string[];
  /** Entries of the commit that cannot be here beside others. */
  readonly twins: NameTwins;
}

async function withDiffering<T>(
  context: JobContext,
  request: RestoreRequest,
  work: (found: Differing) => Promise<T>,
): Promise<T> {
  using session = await openSession(context, 'restore');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const link = await linkRepository(session, store, session.state.branch);
  await settleUnconfirmedPush(session, store, link);
  const base = await ensureBase(session, store, link);
  const arriving = request.from === undefined && base.isMixed ? arrivalsOf(session).at(-1) : undefined;
  const hash = arriving
    ? (arriving.commit as CommitHash)
    : request.from === undefined
      ? requireBase(session)
      : await resolveContent(session, store, request.from);
  const find = async () => {
    const commit = await fetchCommit(session, store, hash);
    await refreshIndex(session);
    const entries = arriving
      ? await collectBased(session, store, base, request)
      : await collectEntries(session, store, commit, request);
    const extra = request.exact ? extraPaths(session, entries, request) : [];
    const paths = new Set([...entries.map(({ path }) => path), ...extra]);
    await hashFiles(session, undecidedFiles(session, paths));
    const twins = await findNameTwins(session, store, commit);
    return { differing: entries.filter((entry) => !isThere(session, entry)), extra, twins };
  };
  const found = await whileKept(store, hash, find, { signal: context.signal });
  return await work({ session, remote, hash, link, ...found });
}

/** A named path as it was typed, and from the workspace's root. */
function wantedPaths(session: Session, { paths }: RestoreRequest) {
  return paths.map((typed) => ({ typed, path: toWorkspacePath(session, typed) }));
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

async function collectEntries(
  session: Session,
  store: ObjectStore,
  commit: Commit,
  request: RestoreRequest,
): Promise<Entry[]> {
  const scope = scopeOf(session);
  const entries = new Map<string, Entry>();
  for (const wanted of wantedPaths(session, request)) {
    const { path } = wanted;
    let [found, outside] = [0, 0];
    let isFile = false;
    for await (const page of readEntries(store, commit, { prefix: path, signal: session.context.signal })) {
      for (const entry of page) {
        if (!isBelow(entry.path, path)) continue;
        found += 1;
        isFile ||= entry.path === path;
        if (scope?.holds(entry.path) === false) outside += 1;
        else entries.set(entry.path, entry);
      }
    }
    if (found > 0 && found === outside) throw outsideScope(session, wanted, request, isFile);
    if (found === 0 && !(request.exact && isHere(session, path))) throw notInCommit(wanted, request);
  }
  return [...entries.values()];
}

/** While a commit arrives: what the files at these paths are based on, some of it of that commit. */
async function collectBased(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
  request: RestoreRequest,
): Promise<readonly Entry[]> {
  const named = wantedPaths(session, request);
  const entries = await readBased(session, store, base, (path) =>
    named.some((one) => isBelow(path, one.path)),
  );
  const missing = named.find(
    ({ path }) =>
      !entries.some((entry) => isBelow(entry.path, path)) && !(request.exact && isHere(session, path)),
  );
  if (missing) throw notInCommit(missing, request);
  return entries;
}

function isHere({ index }: Session, path: string): boolean {
  for (const page of index.files.workingPaths()) if (page.some((one) => isBelow(one, path))) return true;
  return false;
}

/** What the working copy has at the named paths and the commit lacks. Ignored files are not part of it. */
function extraPaths(session: Session, entries: readonly Entry[], request: RestoreRequest): string[] {
  const wanted = wantedPaths(session, request);
  const has = new Set<string>();
  for (const { path } of entries) {
    has.add(path);
    // An empty folder here that the commit fills is a folder there too.
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
      has.add(path.slice(0, slash + 1));
  }
  const extra: string[] = [];
  for (const page of session.index.files.workingPaths())
    extra.push(...page.filter((path) => !has.has(path) && wanted.some((one) => isBelow(path, one.path))));
  return extra;
}

type Wanted = ReturnType<typeof wantedPaths>[number];

function notInCommit({ path, typed }: Wanted, { from }: RestoreRequest): DrayError {
  const command = from === undefined ? 'dray ls' : `dray ls ${shellWord(from)}`;
  return new DrayError('notFound', `The commit has nothing at ${path === '' ? typed : path}.`, {
    data: { path },
    advice: `"${command}" shows what it has.`,
    command,
  });
}

function outsideScope(
  session: Session,
  { path, typed }: Wanted,
  { from = '@' }: RestoreRequest,
  isFile: boolean,
): DrayError {
  const command = `dray scope add ${shellWord(path)}`;
  const data = { path, reason: 'outsideScope' };
  if (session.state.unheld?.[path])
    return new DrayError('unsafePath', `${path} cannot exist on this file system.`, {
      data,
      advice: `Read it with "dray cat ${shellWord(typed)} --from ${shellWord(from)}".`,
    });
  const message = `${path} is outside of what this workspace holds.`;
  if (isFile)
    return new DrayError('usage', message, {
      data,
      advice: `Take it in with "${command}", or read it with "dray cat ${shellWord(typed)} --from ${shellWord(from)}".`,
      command,
    });
  return new DrayError('usage', message, {
    data,
    advice: `Take it in with "${command}", or list it with "dray ls ${shellWord(from)} ${shellWord(path)}".`,
    command,
  });
}

function planOf({ differing, extra, session }: Differing, { exact }: RestoreRequest): RestorePlan {
  const paths = [...differing.map(({ path }) => path), ...extra];
  const changed = paths.filter((path) => isChanged(session, path));
  return {
    files: differing.length,
    bytes: differing.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0),
    changed: changed.length,
    changedPaths: changed.slice(0, NAMED_MAX),
    ...(exact ? { removed: extra.length, removedPaths: extra.slice(0, NAMED_MAX) } : {}),
  };
}

/** Whether the working copy has a change at the path. */
function isChanged(session: Session, path: string): boolean {
  if (path.endsWith('/')) return false;
  const { after, before } = session.index.files.find(path, 0) ?? {};
  // The index has no row: a file there is ignored, or lies in a folder's place.
  if (!after) return !isAsKnown(session, path);
  const isSame = before?.kind === after.kind && before.hash === after.hash && after.hash !== undefined;
  return !isSame || before.executable !== after.executable;
}

function wouldLose({ changed, changedPaths }: RestorePlan): DrayError {
  const [first = ''] = changedPaths;
  const others = changed > 1 ? ` and ${changed - 1} more` : '';
  const message = `${first}${others} changed here since the last push, and would be overwritten. Nothing was restored.`;
  return new DrayError('conflict', message, { data: { changed, changedPaths, reason: 'wouldLose' } });
}

/** Whether the index knows that the working copy has the entry. If not, it is written again. */
function isThere(session: Session, entry: Entry): boolean {
  const working = session.index.files.find(entry.path, 0)?.after;
  if (!working || working.kind !== entry.kind) return false;
  if (entry.kind === 'folder') return true;
  if (entry.kind === 'link') return working.hash === entry.target;
  return working.hash === entry.blob && working.executable === entry.executable;
}
