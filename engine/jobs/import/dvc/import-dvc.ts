/**
 * `dray import dvc`: brings a DVC project into a repository, history included.
 *
 * The design:
 * - What git itself tracks is not data. Data are the outputs that `*.dvc` and `dvc.lock` name.
 * - First the content of all states is brought, each MD5 once: read from DVC's cache or remote, checked,
 *   hashed with SHA-256, and sent into packs, objects and chunks without a copy on the disk. Then the store
 *   is asked once for what was sent. Only then commits are written, and the refs move last. So a branch
 *   never names a commit that lacks something.
 * - Missing or damaged content is listed, as are files of DVC's that cannot be read. The run ends with 4, and
 *   nothing is published. With `skipMissing` the commits leave these files out, and their messages say so.
 * - A commit's bytes follow from git's: author, date, message, parents in order, and the files. So a run that
 *   was killed writes the same commits again. What was sent is known from the user's cache: the index of
 *   `RepositoryWriter`, and a table from MD5 to content.
 * - A state that equals that of its only parent becomes no commit of its own.
 * - The last line of each message names the git commit (`DVC-Revision: ...`). By it a later run finds what is
 *   there. A branch moves only forward, a tag never.
 * - If a collection of garbage begins meanwhile, everything is done once more: only what it has condemned is
 *   sent again.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DrayError } from '../../../api/error.ts';
import type { ImportDvcRequest, ImportSummary } from '../../../api/jobs/imports.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { checkAborted } from '../../../base/abort.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { leadsTo } from '../../../repository/leads-to.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import type { Contents } from '../bring-contents.ts';
import {
  type EarlierCommit,
  type ImportedFile,
  importedStateOf,
  importMessage,
  PARENTS_MAX,
} from '../import-history.ts';
import { ImportPasses } from '../import-passes.ts';
import { emitProblems, type ImportProblem } from '../import-problem.ts';
import { type ImportTarget, openImportTarget } from '../import-target.ts';
import { type EarlierLeftOut, earlierLeftOut, noteOfLeftOut } from '../left-out.ts';
import { createDvcContent } from './dvc-content.ts';
import { createFolderLists, type DvcFile, type DvcState, stateOf } from './dvc-files.ts';
import { loadYaml } from './dvc-outputs.ts';
import { type DvcPlaces, openDvcPlaces } from './dvc-places.ts';
import { type ImportPlan, type ImportStep, planImport } from './dvc-plan.ts';
import { noProject, readConfigOf, readOutputs, treeFingerprint } from './dvc-project.ts';
import { openGitRepository } from './git-repository.ts';

export async function importDvc(context: JobContext, request: ImportDvcRequest): Promise<ImportSummary> {
  await loadYaml();
  const root = resolve(context.directory, request.project);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw noProject(root);
  await using git = await openGitRepository(context, root);
  const plan = await planImport(context, request, { git, root });
  const newest = plan.steps.findLast(({ readTree }) => readTree);
  const config = await readConfigOf(root, await newest?.readTree?.());
  await using places = await openDvcPlaces(context, { root, config, remote: request.remote });
  // A wrong or unsupported remote is reported before a repository is made.
  await places.remote(undefined).catch((error: unknown) => {
    if (request.remote !== undefined || !(error instanceof DrayError)) throw error;
    if (error.code !== 'unsupported') throw error;
  });
  await using target = await openImportTarget(context, {
    to: request.to,
    command: 'import dvc',
    trailer: TRAILER,
    check: ({ store }) => places.keepApart(store),
  });
  return await new DvcImport({ ...target, context, request, plan, places }).run();
}

const TRAILER = 'DVC-Revision';

interface ImportRun extends Omit<ImportTarget, typeof Symbol.asyncDispose> {
  readonly context: JobContext;
  readonly request: ImportDvcRequest;
  readonly plan: ImportPlan;
  readonly places: DvcPlaces;
}

/** What became of a step: the commits that stand for it. */
type Mapped = Map<string, readonly CommitHash[]>;

interface Bringing {
  readonly content: Contents<DvcFile>;
  /** Fingerprints of the states that were brought. */
  readonly seen: Set<string>;
  /** By the steps that keep a commit of an earlier import. */
  readonly kept: Map<string, string>;
}

class DvcImport {
  readonly #run: ImportRun;
  readonly #problems = new Map<string, ImportProblem>();
  readonly #lists: ReturnType<typeof createFolderLists>;
  #mapped: Mapped = new Map();
  #content: Contents<DvcFile> | undefined;
  readonly #passes: ImportPasses;
  #earlier: EarlierLeftOut | undefined;
  #states = 0;
  #commits = 0;
  #refs = 0;

  constructor(run: ImportRun) {
    this.#run = run;
    this.#lists = createFolderLists(run.places);
    const { context, places, remote, repository } = run;
    this.#passes = new ImportPasses(context, repository, () => [remote, ...places.opened()]);
  }

  async run(): Promise<ImportSummary> {
    const { context, plan, request } = this.#run;
    await this.#store();
    this.#earlier = earlierLeftOut(context, this.#earlierCommits(), this.#problems.values());
    emitProblems(context, [...this.#problems.values(), ...this.#earlier.problems]);
    if (this.#problems.size > 0 && !request.skipMissing) return this.#summary('refused');
    context.emit({ type: 'phase', phase: 'commit' });
    if (!plan.isAlone) await this.#writeHistory();
    await this.#checkRefs();
    for (const ref of plan.refs) await this.#publish(ref);
    return this.#summary(this.#commits + this.#refs > 0 ? 'imported' : 'upToDate');
  }

  /** Brings the content of all states, and makes sure that the store has it. */
  async #store(): Promise<void> {
    const { context, known, places, plan, repository } = this.#run;
    this.#problems.clear();
    this.#states = 0;
    await this.#passes.store(async ({ onFile, writer }) => {
      const { signal } = context;
      const content = createDvcContent({ places, repository, content: writer, known, signal, onFile });
      this.#content = content;
      const bringing = { content, seen: new Set<string>(), kept: await this.#keptFingerprints() };
      for (const step of plan.steps) await this.#bring(step, bringing);
    });
  }

  /** Commits of earlier imports that stand for steps of this one. */
  *#earlierCommits(): Generator<EarlierCommit> {
    const { history, plan } = this.#run;
    if (plan.isAlone) return;
    for (const { id, readTree } of plan.steps) if (readTree) yield* history.earlier(id);
  }

  /** The fingerprints of earlier states that a new one follows, which then may be the same state. */
  async #keptFingerprints(): Promise<Map<string, string>> {
    const { history, plan } = this.#run;
    const kept = new Map<string, string>();
    if (plan.isAlone) return kept;
    const isEarlier = ({ id, readTree }: ImportStep) => readTree && history.earlier(id).length > 0;
    const followed = new Set(plan.steps.filter((step) => !isEarlier(step)).flatMap(({ parents }) => parents));
    for (const step of plan.steps)
      if (isEarlier(step) && followed.has(step.id))
        kept.set(step.id, treeFingerprint(await step.readTree!()));
    return kept;
  }

  async #bring(step: ImportStep, { content, kept, seen }: Bringing): Promise<void> {
    const { id, readTree } = step;
    if (!readTree) return;
    const { context, history, plan } = this.#run;
    checkAborted(context.signal);
    this.#states += 1;
    if (!plan.isAlone && history.earlier(id).length > 0) return;
    const tree = await readTree();
    const fingerprint = treeFingerprint(tree);
    if (isLikeParent(step, fingerprint, kept)) {
      kept.set(id, fingerprint);
      return;
    }
    if (seen.has(fingerprint)) return;
    seen.add(fingerprint);
    const { files, problems } = await stateOf(await readOutputs(tree), this.#lists, context.signal);
    const failed = await content.bring(files);
    for (const problem of [...problems, ...failed])
      this.#problems.set(`${problem.path}\n${problem.message}`, problem);
  }

  /** Commits for all steps, parents first. */
  async #writeHistory(): Promise<void> {
    const { context, plan } = this.#run;
    this.#mapped = new Map();
    const fingerprints = await this.#keptFingerprints();
    for (const step of plan.steps) {
      checkAborted(context.signal);
      const parents = [...new Set(step.parents.flatMap((parent) => this.#mapped.get(parent) ?? []))];
      const earlier = step.readTree && this.#earlierOf(step.id, parents);
      if (!step.readTree || earlier) {
        this.#mapped.set(step.id, earlier ? [earlier.hash] : parents);
        continue;
      }
      const tree = await step.readTree();
      const fingerprint = treeFingerprint(tree);
      fingerprints.set(step.id, fingerprint);
      if (isLikeParent(step, fingerprint, fingerprints) && parents.length === 1)
        this.#mapped.set(step.id, parents);
      else this.#mapped.set(step.id, await this.#writeStep(step, parents));
    }
  }

  /** @throws `conflict` if only a commit with other parents is there, whose history would end with it */
  #earlierOf(id: string, parents: readonly CommitHash[]): EarlierCommit | undefined {
    const { history, plan } = this.#run;
    const found = history.earlier(id);
    const named = parents.slice(0, PARENTS_MAX);
    const same = found.find((commit) => isDeepStrictEqual(commit.parents, named));
    if (same || found.length === 0 || !plan.isWhole) return same ?? found[0];
    const message = `The repository has the revision ${id.slice(0, 12)} without its history, from an import of less.`;
    throw new DrayError('conflict', message, {
      data: { ref: found[0]!.ref, revision: id },
      advice: 'Import all commits to another URL.',
    });
  }

  async #writeStep(step: ImportStep, parents: readonly CommitHash[]): Promise<readonly CommitHash[]> {
    const { history } = this.#run;
    const { files, leftOut } = await this.#filesOf(step);
    const [only] = parents;
    const isNone = only === undefined && files.length === 0 && leftOut.length === 0;
    if (isNone) return [];
    const isWhole = leftOut.length === 0;
    if (isWhole && parents.length === 1 && (await history.isSame(only!, files))) return parents;
    this.#commits += 1;
    const { author, id, timeMs } = step;
    if (parents.length > PARENTS_MAX) this.#warnOfParents(id, parents.length);
    const message = importMessage({ text: step.message, trailer: TRAILER, id, note: noteOf(leftOut) });
    return [await history.write({ author, timeMs, message, parents }, files)];
  }

  async #filesOf(step: ImportStep) {
    const { context } = this.#run;
    const tree = await step.readTree!();
    const state: DvcState = await stateOf(await readOutputs(tree), this.#lists, context.signal);
    const files: ImportedFile[] = [];
    const leftOut = state.problems.map(({ path }) => path);
    for (const file of state.files) {
      const found = this.#content!.find(file);
      if (found) files.push({ path: file.path, executable: file.executable, ...found });
      else leftOut.push(file.path);
    }
    // What could not be brought was listed before any commit was written.
    if (leftOut.length > 0 && !this.#run.request.skipMissing)
      throw new DrayError('internal', `${leftOut[0]} was not brought, and nothing was recorded.`);
    return { files, leftOut };
  }

  /** So that one branch of others does not stop the import when some refs have moved. @throws `conflict` */
  async #checkRefs(): Promise<void> {
    const { plan, repository } = this.#run;
    if (plan.isAlone) return;
    for (const ref of plan.refs) {
      const tip = repository.refs.find(({ name }) => name === ref.name);
      if (tip && !(await this.#isNothing(ref))) await this.#commitOf(ref, tip);
    }
  }

  async #publish(ref: ImportPlan['refs'][number]): Promise<void> {
    const { plan, repository } = this.#run;
    if (await this.#isNothing(ref)) return this.#warnOfNone(ref.name);
    const { before, commit } = await repository.publish(ref.name, async (tip) => {
      if (this.#passes.isOutdated()) {
        await this.#store();
        if (!plan.isAlone) await this.#writeHistory();
      }
      return plan.isAlone ? await this.#commitAlone(ref.name, tip) : await this.#commitOf(ref, tip);
    });
    if (before?.commit !== commit) this.#refs += 1;
  }

  /** Whether DVC tracks nothing at a ref that the repository does not have. */
  async #isNothing({ name, step }: ImportPlan['refs'][number]): Promise<boolean> {
    const { plan, repository } = this.#run;
    if (!plan.isAlone) return this.#mapped.get(step)?.length === 0;
    if (repository.refs.some((known) => known.name === name)) return false;
    const { files, leftOut } = await this.#filesOf(plan.steps[0]!);
    return files.length + leftOut.length === 0;
  }

  #warnOfNone(name: string): void {
    const message = `${name.slice(name.indexOf('/') + 1)} was left out: DVC tracks nothing there.`;
    this.#run.context.emit({ type: 'warning', warning: 'refLeftOut', message });
  }

  #warnOfParents(id: string, count: number): void {
    const message = `The merge ${id} has ${count} parents with data. Its commit names the first ${PARENTS_MAX}.`;
    this.#run.context.emit({ type: 'warning', warning: 'parentsLeftOut', message });
  }

  /** The single state of this import, on top of what an earlier one left. */
  async #commitAlone(name: string, tip: StoredRef | undefined): Promise<CommitHash> {
    const { history, plan, repository } = this.#run;
    const step = plan.steps[0]!;
    const { files, leftOut } = await this.#filesOf(step);
    if (tip && (await history.isSame(tip.commit, files))) return tip.commit;
    if (tip) {
      const isImported =
        importedStateOf((await repository.readCommit(tip.commit)).message, TRAILER) !== undefined;
      if (name.startsWith('tags/') || !isImported) throw otherCommit(name);
    }
    this.#commits += 1;
    const { author, id, timeMs } = step;
    const message = importMessage({ text: step.message, trailer: TRAILER, id, note: noteOf(leftOut) });
    return history.write({ author, timeMs, message, parents: tip ? [tip.commit] : [] }, files);
  }

  async #commitOf(
    { name, step }: ImportPlan['refs'][number],
    tip: StoredRef | undefined,
  ): Promise<CommitHash> {
    const { history, repository } = this.#run;
    // A step between others may stand for several commits; a ref names a step of its own.
    const commit = this.#mapped.get(step)![0]!;
    if (tip?.commit === commit) return commit;
    const read = (hash: CommitHash) => repository.readCommit(hash);
    if (tip) {
      if (name.startsWith('tags/')) throw otherCommit(name);
      const [isAhead, isBehind] = await Promise.all([
        leadsTo({ tip: commit, own: tip.commit, base: undefined, read }),
        leadsTo({ tip: tip.commit, own: commit, base: undefined, read }),
      ]);
      if (!isAhead && isBehind) return tip.commit;
      if (!isAhead) throw otherCommit(name);
    }
    const earlier = history.isEarlier(commit);
    if (earlier) await repository.checkWhole(commit, earlier.ref);
    return commit;
  }

  #summary(result: ImportSummary['result']): ImportSummary {
    return {
      result,
      states: this.#states,
      commits: this.#commits,
      refs: this.#refs,
      failed: this.#problems.size + (this.#earlier?.count ?? 0),
      ...this.#passes.sums(),
    };
  }
}

/** Whether a step's state is that of its only parent, so that it becomes no commit. */
function isLikeParent(
  { parents }: ImportStep,
  fingerprint: string,
  known: ReadonlyMap<string, string>,
): boolean {
  return parents.length === 1 && known.get(parents[0]!) === fingerprint;
}

function noteOf(leftOut: readonly string[]): string | undefined {
  return noteOfLeftOut(leftOut, 'because DVC no longer had the content');
}

function otherCommit(name: string): DrayError {
  const [kind, short] = [name.startsWith('tags/') ? 'tag' : 'branch', name.slice(name.indexOf('/') + 1)];
  return new DrayError('conflict', `The repository has a ${kind} ${short} with another history.`, {
    data: { ref: name },
    advice: 'Import to another URL, or rename it there first.',
  });
}
