/** Which states of a DVC project an import takes, and which branches and tags name them. */
import { DrayError } from '../../../api/error.ts';
import type { ImportDvcRequest } from '../../../api/jobs/imports.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { systemClock } from '../../../base/clock.ts';
import { refNameReason } from '../../../repository/ref-name.ts';
import { userAuthor } from '../../push/author.ts';
import { type DvcTree, readFolderTree, readGitTree } from './dvc-project.ts';
import type { GitCommit, GitRef, GitRepository } from './git-repository.ts';

/** One state of the project; parents come first. */
export interface ImportStep {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly timeMs: number;
  readonly message: string;
  /** Absent: only a step between others, which becomes no commit. */
  readonly readTree?: () => Promise<DvcTree>;
}

export interface ImportPlan {
  readonly steps: readonly ImportStep[];
  readonly refs: readonly { readonly name: string; readonly step: string }[];
  /** A single state, which is put on top of what an earlier import left. */
  readonly isAlone: boolean;
  /** All states of the history: a commit has its parents. */
  readonly isWhole: boolean;
}

const DEFAULT_BRANCH = 'main';

export async function planImport(
  context: JobContext,
  request: ImportDvcRequest,
  { git, root }: { readonly git: GitRepository | undefined; readonly root: string },
): Promise<ImportPlan> {
  const { allCommits, allTags, rev } = request;
  if (!git) {
    if (allCommits || allTags || rev !== undefined) throw needsGit(root);
    return planFolder(context, root);
  }
  if (allCommits || allTags) {
    if (await git.isShallow()) throw isShallow(root);
    return planHistory(context, git, { root, isTagsOnly: !allCommits });
  }
  return planRevision(git, rev ?? 'HEAD');
}

function needsGit(root: string): DrayError {
  return new DrayError('usage', `${root} is not a git repository, so it has no revisions or tags.`, {
    data: { path: root },
    advice: 'Leave out --rev, --all-tags and --all-commits to import the folder as it is.',
  });
}

function isShallow(root: string): DrayError {
  return new DrayError('usage', `The git repository ${root} is shallow: it lacks older commits.`, {
    data: { path: root },
    advice: 'Run "git fetch --unshallow --tags" there first, or import one revision with --rev.',
  });
}

function planFolder(context: JobContext, root: string): ImportPlan {
  const step: ImportStep = {
    id: 'folder',
    parents: [],
    author: userAuthor(context),
    timeMs: systemClock.nowMs(),
    message: 'Import from DVC',
    readTree: async () => readFolderTree(root),
  };
  return {
    steps: [step],
    refs: [{ name: `heads/${DEFAULT_BRANCH}`, step: step.id }],
    isAlone: true,
    isWhole: false,
  };
}

async function planRevision(git: GitRepository, rev: string): Promise<ImportPlan> {
  const id = await git.resolve(rev);
  const [commit] = await git.log([id], { isAlone: true });
  const refs = await git.refs();
  const named =
    refs.find(({ kind, name }) => kind === 'heads' && name === rev) ??
    refs.find(({ kind, name }) => kind === 'tags' && name === rev);
  const ofHead = async () =>
    rev === 'HEAD' ? ((await git.currentBranch()) ?? DEFAULT_BRANCH) : `dvc-${id.slice(0, 12)}`;
  const name = named ? `${named.kind}/${named.name}` : `heads/${await ofHead()}`;
  const step = { ...toStep(git, commit!), parents: [] };
  return { steps: [step], refs: [{ name, step: id }], isAlone: true, isWhole: false };
}

async function planHistory(
  context: JobContext,
  git: GitRepository,
  { isTagsOnly, root }: { readonly isTagsOnly: boolean; readonly root: string },
): Promise<ImportPlan> {
  const all = await git.refs();
  const refs = all.filter((ref) => (!isTagsOnly || ref.kind === 'tags') && isNameValid(context, ref));
  if (refs.length === 0) {
    const message = `The git repository ${root} has no ${isTagsOnly ? 'tag' : 'branch or tag'} to import.`;
    throw new DrayError('notFound', message, { data: { path: root } });
  }
  const wanted = new Set(refs.map(({ commit }) => commit));
  const commits = await git.log([...wanted]);
  return {
    steps: commits.map((commit) => {
      const { readTree, ...step } = toStep(git, commit);
      return !isTagsOnly || wanted.has(commit.id) ? { ...step, readTree } : step;
    }),
    refs: refs.map(({ commit, kind, name }) => ({ name: `${kind}/${name}`, step: commit })),
    isAlone: false,
    isWhole: !isTagsOnly,
  };
}

function isNameValid({ emit }: JobContext, { kind, name }: GitRef): boolean {
  const reason = refNameReason(name);
  if (reason === undefined) return true;
  const word = kind === 'heads' ? 'branch' : 'tag';
  const message = `The ${word} ${JSON.stringify(name)} was left out: ${reason}.`;
  emit({ type: 'warning', warning: 'refLeftOut', message });
  return false;
}

function toStep(git: GitRepository, { author, id, message, parents, timeMs }: GitCommit) {
  return { id, parents, author, timeMs, message, readTree: () => readGitTree(git, id) };
}
