/**
 * `dray restore`: brings named paths back as a commit has them. It replaces the working copy's own content at
 * these paths, unless changes are to be kept.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext, RestorePlan, RestoreRequest, RestoreSummary } from '../../api/jobs/jobs.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { openLocalKeeper } from '../kept/local-keeper.ts';
import { whileKept } from '../retention/forgotten.ts';
import { ensureBase, fetchCommit } from '../session/base-commit.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { requireBase, resolveContent } from '../session/resolve-commit.ts';
import { toWorkspacePath } from '../session/workspace-path.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { applyChanges, isAsKnown } from './apply-changes.ts';
import { hashFiles, undecidedFiles } from './hash-files.ts';
import { settleCutRuns } from './interrupted-writes.ts';
import { refreshIndex } from './refresh-index.ts';

const CHANGED_NAMED_MAX = 20;

export async function restore(context: JobContext, request: RestoreRequest): Promise<RestoreSummary> {
  return withDiffering(context, request, async ({ remote, differing, hash, link, session }) => {
    const plan = planOf(session, differing);
    if (request.keepsChanges && plan.changed > 0) throw wouldLose(plan);
    const totals = { files: differing.length, bytes: plan.bytes };
    const changed = new Set(differing.flatMap((entry) => (isChanged(session, entry) ? [entry.path] : [])));
    const { files, settings } = session.index;
    const mark = settings.base;
    const based = differing.map(({ path }) => [path, ...files.unplacedBaseEntries(path, path)] as const);
    settings.base = undefined;
    const applied = await applyChanges({
      session,
      remote,
      link,
      writing: { commit: hash, words: wordsOf(request) },
      totals,
      deletions: [],
      writes: [differing],
      // A change made while this runs is kept as well.
      ...(request.keepsChanges ? {} : { givenUp: new Set(differing.map((entry) => entry.path)) }),
      keeper: openLocalKeeper({
        session,
        words: wordsOf(request),
        // Committed content need not be kept.
        isMeant: (path) => changed.has(path) || !isAsKnown(session, path),
      }),
    });
    // A written path has become its own base. The rows are the base commit's again.
    session.index.transaction(() => {
      for (const [path, entry] of based) files.setBase(path, entry);
      settings.base = mark;
    });
    const base = await ensureBase(session, remote.store, link);
    if (applied.failed === 0) await settleCutRuns(session, remote.store, base);
    const restored = differing.length - applied.failed;
    return { restored, bytes: applied.bytes, failed: applied.failed, ...applied.keeping };
  });
}

/** The changes that `restore` would make. Only the index is updated, by the scan. */
export async function planRestore(context: JobContext, request: RestoreRequest): Promise<RestorePlan> {
  return withDiffering(context, request, async ({ differing, session }) => planOf(session, differing));
}

/** The command line to type again. */
function wordsOf({ from, paths }: RestoreRequest): string {
  return ['restore', ...paths, ...(from === undefined ? [] : ['--from', from])].map(shellWord).join(' ');
}

interface Differing {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
  readonly hash: CommitHash;
  /** Entries of the commit that the working copy does not have. */
  readonly differing: readonly Entry[];
}

async function withDiffering<T>(
  context: JobContext,
  request: RestoreRequest,
  work: (found: Differing) => Promise<T>,
): Promise<T> {
  using session = await openSession(context, 'restore');
  const wanted = request.paths.map((path) => toWorkspacePath(session, path));
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const link = await linkRepository(session, store, session.state.branch);
  await ensureBase(session, store, link);
  const hash =
    request.from === undefined ? requireBase(session) : await resolveContent(session, store, request.from);
  const find = async () => {
    const commit = await fetchCommit(session, store, hash);
    await refreshIndex(session);
    const entries = await collectEntries(session, store, commit, wanted);
    const paths = new Set(entries.map(({ path }) => path));
    await hashFiles(session, undecidedFiles(session, paths));
    return entries.filter((entry) => !isThere(session, entry));
  };
  const differing = await whileKept(store, hash, find, { signal: context.signal });
  return await work({ session, remote, hash, link, differing });
}

async function collectEntries(
  session: Session,
  store: ObjectStore,
  commit: Commit,
  wanted: readonly string[],
): Promise<Entry[]> {
  const scope = scopeOf(session);
  const entries = new Map<string, Entry>();
  for (const path of wanted) {
    let [found, outside] = [0, 0];
    for await (const page of readEntries(store, commit, { prefix: path, signal: session.context.signal })) {
      for (const entry of page) {
        if (path !== '' && entry.path !== path && !entry.path.startsWith(`${path}/`)) continue;
        found += 1;
        if (scope?.holds(entry.path) === false) outside += 1;
        else entries.set(entry.path, entry);
      }
    }
    if (found > 0 && found === outside) throw outsideScope(path);
    if (found === 0) {
      throw new DrayError('notFound', `The commit has nothing at ${path}.`, {
        data: { path },
        advice: '"dray ls" shows what it has.',
        command: 'dray ls',
      });
    }
  }
  return [...entries.values()];
}

function outsideScope(path: string): DrayError {
  const command = `dray scope add ${shellWord(path)}`;
  return new DrayError('usage', `${path} is outside of what this workspace holds.`, {
    data: { path, reason: 'outsideScope' },
    advice: `Take it in with "${command}", or read it with "dray cat".`,
    command,
  });
}

function planOf(session: Session, differing: readonly Entry[]): RestorePlan {
  const changed = differing.filter((entry) => isChanged(session, entry)).map(({ path }) => path);
  return {
    files: differing.length,
    bytes: differing.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0),
    changed: changed.length,
    changedPaths: changed.slice(0, CHANGED_NAMED_MAX),
  };
}

/** Whether the working copy has a change at the path. */
function isChanged(session: Session, { kind, path }: Entry): boolean {
  if (kind === 'folder') return false;
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
