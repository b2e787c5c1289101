/** Makes a branch again that is missing or damaged, at a commit that is still on the store. */
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { checkWhole } from '../../repository/collection/check-whole.ts';
import { readCollectionState } from '../../repository/collection/collection-state.ts';
import { type CollectionView, createCollectionView } from '../../repository/collection/collection-view.ts';
import { publish } from '../../repository/collection/publish.ts';
import { type Commit, readCommit } from '../../repository/commit.ts';
import { collectsGarbage, readDescriptor } from '../../repository/descriptor.ts';
import { checkRefName } from '../../repository/ref-name.ts';
import { etagOfDamaged, readRef } from '../../repository/refs.ts';
import { walkCommits } from '../history/verify/find-commits.ts';
import { Findings, type VerifyTools } from '../history/verify/findings.ts';
import { type Damage, findDamage } from '../history/verify.ts';
import { notARepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { resolveCommit } from '../session/resolve-commit.ts';

export interface RestoredBranch {
  readonly commit: CommitHash;
  /** What the commit lacks. Only content: a commit that cannot be listed gets no branch. */
  readonly damage: Damage;
  /** Content that is missing or damaged, and commits before it that cannot be read. */
  readonly faults: number;
}

/** @throws `conflict` if the branch exists; `damaged` if the commit or its list of files cannot be read */
export async function restoreBranch(
  session: Session,
  tools: VerifyTools,
  { branch, dryRun, ref }: { readonly branch: string; readonly ref: string; readonly dryRun: boolean },
): Promise<RestoredBranch> {
  const { store } = tools;
  const call = { signal: session.context.signal };
  checkRefName(branch);
  const name = `heads/${branch}`;
  const unreadable = await findUnreadable(store, name, call.signal);
  const descriptor = await readDescriptor(store, call);
  if (!descriptor) throw notARepository(store, { isUnmet: false });
  const hash = await resolveCommit(session, store, ref);
  const damage = await findDamage(session, tools, { ref: hash });
  const [broken] = damage.documents;
  if (broken !== undefined)
    throw new DrayError('damaged', `The commit ${hash.slice(0, 12)} cannot be read: ${broken} is damaged.`, {
      data: { key: broken, commit: hash },
    });
  const commit = await readCommit(store, hash, call);
  const history = new Findings(tools);
  await walkCommits(tools, { tips: commit.parents, findings: history, onCommit: () => {} });
  const faults = damage.objects.size + history.unreadable;
  if (dryRun) return { commit: hash, damage, faults };
  const view = collectsGarbage(descriptor) ? createCollectionView(store, call) : undefined;
  await publish({
    store,
    name,
    repository: descriptor.id,
    tip: undefined,
    unreadable,
    view,
    isChosen: true,
    isRestored: true,
    clock: session.clock,
    ...call,
    prepare: async (tip) => {
      if (tip) throw exists(branch, tip.commit);
      if (view) await checkWholeOrThere(tools, { commit, hash, name, view });
      return hash;
    },
  });
  return { commit: hash, damage, faults };
}

/** The etag of a ref that cannot be read. @throws `conflict` for one that can */
async function findUnreadable(
  store: ObjectStore,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const ref = await readRef(store, name, { signal });
    if (!ref) return undefined;
    throw exists(name.slice('heads/'.length), ref.commit);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return await etagOfDamaged(store, name, { signal });
  }
}

function exists(branch: string, commit: CommitHash): DrayError {
  return new DrayError('conflict', `The branch ${branch} exists, at ${commit.slice(0, 12)}.`, {
    data: { ref: branch, commit, reason: 'refExists' },
    advice: 'Move it with "dray branch NAME COMMIT --force".',
    command: 'dray branch',
  });
}

interface CommitToName {
  readonly commit: Commit;
  readonly hash: CommitHash;
  readonly name: string;
  readonly view: CollectionView;
}

/**
 * What a lost branch named may have been a candidate that a collection spared because of it. If that round is
 * done and all is there, nobody is about to remove it; a round that begins later meets the pending branch.
 */
async function checkWholeOrThere(
  { context: { signal }, store }: VerifyTools,
  { name, view, ...commit }: CommitToName,
): Promise<void> {
  try {
    await checkWhole(store, commit, { branch: name, view, signal });
  } catch (error) {
    if (!(error instanceof DrayError) || error.data.reason !== 'collected') throw error;
    const read = await readCollectionState(store, { signal });
    if (read?.state.phase !== 'done' || read.state.round !== view.round) throw error;
  }
}
