/** `dray clone`: a new workspace with a commit of an existing repository in it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DrayError } from '../../api/error.ts';
import type { CloneRequest, JobContext, PullSummary } from '../../api/jobs/jobs.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import { checkScopePatterns } from '../../model/scope.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { defaultCloneFolder } from '../../remotes/remote-url.ts';
import type { Commit } from '../../repository/commit.ts';
import { type Descriptor, readDescriptor } from '../../repository/descriptor.ts';
import { entryCount, type Totals, totalsOfEntries } from '../../repository/manifest/manifest.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { listRefs, readRef, type StoredRef } from '../../repository/refs.ts';
import { refuseLostName, resolveRef } from '../../repository/resolve-ref.ts';
import {
  createWorkspace,
  findWorkspace,
  makeFolder,
  type WorkspaceState,
} from '../../workspace/workspace-folder.ts';
import { refuseLocalRepository } from '../places/local-repository.ts';
import { settleLastPush } from '../push/unconfirmed-push.ts';
import { DEFAULT_BRANCH, DEFAULT_REMOTE } from '../remotes/init.ts';
import { requireKept, whileKept } from '../retention/forgotten.ts';
import { namesNothing, warnOfUnmatched, watchUnmatched } from '../scope/unmatched-patterns.ts';
import { arrivalOf } from '../session/base/arrivals.ts';
import { beginArrival, endArrival, fetchCommit, hashAs, saveBase } from '../session/base/base-commit.ts';
import { withDetached } from '../session/base/detached-state.ts';
import { checkBelongs, checkSameRepository, type LinkedRepository } from '../session/link-repository.ts';
import { NO_CHANGES } from '../session/no-changes.ts';
import { openWorkspaceSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openRepositoryAt, parseGivenUrl, urlToKeep } from '../session/opened-remote.ts';
import { warnIfPlain } from '../session/password.ts';
import { keptOf, layoutOfRepository } from '../session/sealed-remote.ts';
import { allowedBy } from '../session/user-remotes.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { applyChanges } from '../working-copy/apply-changes.ts';
import { findNameTwins } from '../working-copy/name-twins.ts';
import { createLeavingOut, type LeavingOut, leaveOut } from '../working-copy/unheld-entries.ts';
import { checkFolder, findBegun, leaveNothing } from './clone-folder.ts';
import { arrivingOf, pullCommit } from './pull.ts';

const TAKEN: ReadonlySet<string> = new Set(['locked', 'workspaceExists']);

interface Target {
  readonly branch: string;
  readonly commit: CommitHash;
  readonly tip: StoredRef | undefined;
  /** The command line that goes on with it in the workspace, after `dray`. */
  readonly words: string;
}

/** @param onKept Called once the workspace remains even if the clone fails. */
export async function cloneWorkspace(
  context: JobContext,
  request: CloneRequest,
  onKept: (root: string) => void = () => {},
): Promise<PullSummary> {
  const url = urlToKeep(context, { url: request.url, baseFolder: context.directory, of: 'workspace' });
  const given = parseGivenUrl(context, url, context.directory);
  const root = resolve(context.directory, request.directory ?? defaultCloneFolder(given));
  if (request.only) checkScopePatterns(request.only);
  const begun = findBegun(root, url, allowedBy(context));
  if (!begun) {
    checkFolder(root);
    refuseLocalRepository(root, 'This would put a workspace among its stored objects.');
  }
  await using remote = await openRepositoryAt(context, given);
  const wasThere = existsSync(root);
  /** True while the folder contains only what this run has made, and no file. */
  let isOurs = false;
  try {
    const { store } = remote;
    const [descriptor, target] = await Promise.all([
      readDescriptor(store, { signal: context.signal }),
      findTarget(store, request.ref, context.signal),
    ]);
    if (!descriptor) throw notARepository(store);
    if (!target) throw noCommit(store, request.ref);
    checkSameRepository(store, begun?.repository, descriptor.id);
    checkBelongs(store, target.tip, descriptor.id);
    warnIfPlain(context, store.address, descriptor);
    if (begun) checkGoesOn(root, begun.state, target, request.only);
    else {
      // Checked again: another clone may have started here meanwhile.
      checkFolder(root);
      isOurs = true;
      makeFolder(root);
      createWorkspace(root, configFor(url, keptOf(store, descriptor)), stateFor(target, request));
    }
    using session = await openWorkspaceSession(
      { ...context, directory: root },
      'clone',
      findWorkspace(root, allowedBy(context))!,
    );
    return await fill({ session, remote, descriptor, target, isResumed: begun !== undefined }, () => {
      isOurs = false;
      onKept(root);
    });
  } catch (error) {
    // Another clone was here first, and the files are its own.
    const isTaken = error instanceof DrayError && TAKEN.has(error.code);
    if (isOurs && !isTaken) leaveNothing(root, wasThere);
    throw error;
  }
}

interface Filling {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly descriptor: Descriptor;
  readonly target: Target;
  readonly isResumed: boolean;
}

/** @param onWriting Called before the first file is written, also when files of an earlier clone exist. */
async function fill(filling: Filling, onWriting: () => void): Promise<PullSummary> {
  const { session, remote, descriptor, target, isResumed } = filling;
  const known = session.index.repositories.bind(descriptor.id);
  const layout = layoutOfRepository(remote.store, descriptor);
  hashAs(session, layout);
  const link: LinkedRepository = {
    uuid: descriptor.id,
    layout,
    known,
    blobs: session.index.blobsOf(known.id),
    // The first push after the clone reads it.
    view: undefined,
    tip: target.tip,
    isEmpty: false,
  };
  const ownBranch = { kind: 'branch', name: target.branch } as const;
  // Of a tag or a commit: the workspace shows it, and is on the default branch.
  const ref = target.tip ? undefined : session.state.cloning?.ref;
  session.state = withDetached(session.state, session.remoteName, ref);
  if (isResumed) {
    onWriting();
    await settleLastPush(session, remote.store);
    // Saved together with the base, when everything has arrived.
    if (!hasBase(session.state)) session.state = { ...session.state, branch: target.branch };
    const named = ref === undefined ? ownBranch : ({ kind: 'commit', name: ref } as const);
    const { commit, words } = target;
    const isOfBranch = target.tip !== undefined;
    return pullCommit(session, remote, link, { commit, named, isOfBranch, words }, {});
  }
  const fresh = () => fillFresh(session, remote, link, target, onWriting);
  return await whileKept(remote.store, target.commit, fresh, { signal: session.context.signal });
}

async function fillFresh(
  session: Session,
  remote: OpenedRemote,
  link: LinkedRepository,
  target: Target,
  onWriting: () => void,
): Promise<PullSummary> {
  const { store, meter } = remote;
  const commit = await fetchCommit(session, store, target.commit);
  const leavingOut = createLeavingOut(session, await findNameTwins(session, store, commit));
  const part = await partOf(session, store, commit);
  onWriting();
  const totals = { files: entryCount(part.totals), bytes: part.totals.bytes };
  beginArrival(session, link.uuid, arrivalOf(session, target.commit, target.words, totals));
  const applied = await applyChanges({
    session,
    remote,
    link,
    writing: { commit: target.commit, words: target.words },
    totals: part.totals,
    deletions: [],
    writes: eachWithoutTwins(leavingOut, part.entries),
    isFresh: true,
    leavingOut,
  });
  const left = leaveOut(session, leavingOut, applied.failed === 0);
  if (applied.failed > 0) endArrival(session, link);
  else saveBase(session, link.uuid, target.commit, target.tip ? 'branch' : 'other');
  return {
    result: 'pulled',
    workspace: session.workspace.root,
    branch: target.branch,
    commit: applied.failed === 0 ? target.commit : null,
    changes: {
      ...NO_CHANGES,
      added: entryCount(part.totals) - applied.failed - left,
      bytes: part.totals.bytes,
    },
    downloadedBytes: applied.bytes,
    decided: 0,
    ...(applied.failed === 0 ? {} : { arriving: arrivingOf(session, target.commit, applied.failed) }),
    failed: applied.failed + left,
    requests: meter.totals(),
  };
}

async function* eachWithoutTwins(
  leavingOut: LeavingOut,
  pages: ClonedPart['entries'],
): AsyncGenerator<readonly Entry[]> {
  for await (const page of pages) yield leavingOut.withoutTwins(page);
}

interface ClonedPart {
  readonly totals: Totals;
  readonly entries: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>;
}

/** The entries of a part are read before the first is written, since only they tell how many they are. */
async function partOf(session: Session, store: ObjectStore, commit: Commit): Promise<ClonedPart> {
  const { signal } = session.context;
  const scope = scopeOf(session);
  if (!scope) return { totals: commit.totals, entries: readEntries(store, commit, { signal }) };
  const pages: (readonly Entry[])[] = [];
  const unmatched = watchUnmatched(scope.patterns);
  for await (const page of readEntries(store, commit, { scope, signal })) {
    unmatched.see(page);
    pages.push(page);
  }
  const nothing = unmatched.left();
  if (nothing.length === scope.patterns.length) throw namesNothing(scope.patterns, 'cloned');
  warnOfUnmatched(session, nothing);
  return { totals: totalsOfEntries(pages.flat()), entries: pages };
}

/**
 * The named branch, or the default one, or the only one. A tag or commit comes with the default branch's
 * name.
 */
async function findTarget(
  store: ObjectStore,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<Target | undefined> {
  if (ref !== undefined) {
    const resolved = await resolveRef(store, ref, { signal });
    const branch = resolved.ref?.name.startsWith('heads/')
      ? resolved.ref.name.slice('heads/'.length)
      : DEFAULT_BRANCH;
    const tip = resolved.ref?.name.startsWith('heads/') ? resolved.ref : undefined;
    if (!resolved.ref) await requireKept(store, resolved.commit, { signal });
    const words = tip ? 'pull' : `pull ${shellWord(ref)}`;
    return { branch, commit: resolved.commit, tip, words };
  }
  const tip = await readRef(store, `heads/${DEFAULT_BRANCH}`, { signal });
  if (tip) return { branch: DEFAULT_BRANCH, commit: tip.commit, tip, words: 'pull' };
  await refuseLostName(store, DEFAULT_BRANCH, { signal });
  const branches = await listRefs(store, 'heads', { signal });
  const [only, another] = branches;
  if (!only) return undefined;
  if (another) {
    const names = branches.map((branch) => branch.name.slice('heads/'.length)).join(', ');
    throw new DrayError('notFound', `${store.address} has no branch ${DEFAULT_BRANCH}. It has: ${names}.`, {
      data: { reason: 'noMain' },
      advice: 'Choose one with --ref.',
    });
  }
  return { branch: only.name.slice('heads/'.length), commit: only.commit, tip: only, words: 'pull' };
}

function configFor(url: string, kept: ReturnType<typeof keptOf>) {
  return {
    format: 1 as const,
    defaultRemote: DEFAULT_REMOTE,
    remotes: { [DEFAULT_REMOTE]: { url, ...kept } },
    settings: {},
  };
}

function stateFor({ branch }: Target, { only, ref }: CloneRequest): WorkspaceState {
  return {
    format: 1,
    branch,
    bases: {},
    cloning: ref === undefined ? {} : { ref },
    ...(only && only.length > 0 ? { scope: { only: [...only] } } : {}),
  };
}

function hasBase({ bases }: WorkspaceState): boolean {
  return Object.keys(bases).length > 0;
}

/** A clone only updates an existing workspace's own branch. `switch` and `pull REF` bring other commits. */
function checkGoesOn(
  root: string,
  state: WorkspaceState,
  target: Target,
  only: readonly string[] = [],
): void {
  if (!isDeepStrictEqual(state.scope?.only ?? [], only))
    throw new DrayError('workspaceExists', `${root} is already a workspace that holds another part.`, {
      data: { path: root, workspace: root, only: state.scope?.only ?? null },
      advice: 'Use "dray scope" in it, or clone into another folder.',
    });
  const { bases, branch } = state;
  const isOwnBranch = target.tip !== undefined && target.branch === branch;
  if (!hasBase(state) || bases[DEFAULT_REMOTE] === target.commit || isOwnBranch) return;
  throw new DrayError(
    'workspaceExists',
    `${root} is already a workspace of this repository, on the branch ${branch}.`,
    {
      data: { path: root, workspace: root },
      advice: 'Use "dray switch" or "dray pull" in it, or clone into another folder.',
    },
  );
}

function notARepository(store: ObjectStore): DrayError {
  return new DrayError('notARepository', `There is no repository at ${store.address}. Check the URL.`, {
    data: { remote: store.address },
    advice: 'If there was one, its dray.json is lost: run "dray repair" in a workspace of it.',
    command: 'dray repair',
  });
}

function noCommit(store: ObjectStore, ref: string | undefined): DrayError {
  const what = ref === undefined ? 'has no commit yet' : `has no ref "${ref}"`;
  return new DrayError('notFound', `The repository at ${store.address} ${what}. Push to it first.`, {
    data: { remote: store.address },
  });
}
