/**
 * `dray import folder-versions`: brings the history of a bucket that keeps versions into a repository.
 *
 * The design:
 * - A commit stands for the changes of a span of time, such as a day: it holds what the last version of each
 *   key in the span says. Its time is that of its last change. A span that changes no content has no commit.
 * - All versions are listed first, into a temporary database. Then the contents are brought, those of all
 *   commits, each once: read by its version's id, hashed with SHA-256 and sent on without a copy on the disk.
 *   Then the commits are written, and the branch moves last.
 * - The last line of a message names the source and the time (`S3-Versions: s3://bucket/data 2026-...`). A
 *   later run begins after it, and adds what is newer. It ends with a look at what the bucket has now: what
 *   the times did not tell (a version that was removed for good, one that S3 dated back) becomes a commit of
 *   its own.
 * - A file keeps the time of its version. By it and the size a later run knows the files that it has. In the
 *   last second before the earlier run ended, only the name of the version says it.
 * - What cannot be read is listed, the run ends with 4, and nothing is published. With `skipMissing` the
 *   commits leave it out, and their messages say so.
 */
import { DrayError } from '../../../api/error.ts';
import type { ImportSummary, ImportVersionsRequest } from '../../../api/jobs/imports.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { checkAborted } from '../../../base/abort.ts';
import { type KeyChange, type VersionStep, VersionTable } from '../../../index/version-table.ts';
import { type CommitHash, comparePaths, type Entry, type FileEntry } from '../../../model/entry.ts';
import { checkRefName } from '../../../repository/ref-name.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import { checkStoresApart } from '../../places/places.ts';
import { userAuthor } from '../../push/author.ts';
import { type OpenedRemote, openRemoteAt, parseGivenUrl } from '../../session/opened-remote.ts';
import type { ContentSource } from '../../versions/content-writer.ts';
import type { RepositoryWriter } from '../../versions/repository-writer.ts';
import { type Contents, createContents } from '../bring-contents.ts';
import {
  type EarlierCommit,
  type ImportedChange,
  type ImportedFile,
  importedStateOf,
  importMessage,
} from '../import-history.ts';
import { ImportPasses } from '../import-passes.ts';
import { emitProblems, type ImportProblem, problemOf } from '../import-problem.ts';
import { type ImportTarget, openImportTarget } from '../import-target.ts';
import { type EarlierLeftOut, earlierLeftOut, noteOfLeftOut } from '../left-out.ts';
import { fillVersionTable } from './fill-version-table.ts';
import { isFilePath, KeyState } from './key-state.ts';
import { ShownFiles } from './shown-files.ts';

/** S3's times are whole seconds. So the last second of an earlier import may have later versions. */
const TIME_UNIT_MS = 1_000;
const DAY_MS = 86_400_000;
const DEFAULT_BRANCH = 'main';
const TRAILER = 'S3-Versions';

export async function importFolderVersions(
  context: JobContext,
  request: ImportVersionsRequest,
): Promise<ImportSummary> {
  checkRefName(request.branch ?? DEFAULT_BRANCH);
  const from = parseGivenUrl(context, request.source, context.directory);
  await using source = await openRemoteAt(context, from, { plainFiles: true });
  return await importVersionsOf(context, request, source);
}

export async function importVersionsOf(
  context: JobContext,
  request: ImportVersionsRequest,
  source: OpenedRemote,
): Promise<ImportSummary> {
  const { branch = DEFAULT_BRANCH, everyMs = DAY_MS } = request;
  const { signal } = context;
  const { address } = source.store;
  if (!source.store.versions) throw noVersions(address);
  using table = new VersionTable();
  const { count, keepsVersions } = await fillVersionTable(source, table, signal);
  if (count === 0)
    throw new DrayError('notFound', `There are no objects at ${address}.`, { data: { remote: address } });
  if (!keepsVersions) throw noVersions(address);
  await using target = await openImportTarget(context, {
    to: request.to,
    command: 'import folder-versions',
    trailer: TRAILER,
    // A later run would import the repository itself.
    check: ({ store }) =>
      checkStoresApart([{ text: address }, source.store], [{ text: store.address }, store]),
  });
  const { known, remote, repository } = target;
  const name = `heads/${branch}`;
  const base = await baseOf(repository, name, address);
  const passes = new ImportPasses(context, repository, () => [remote, source]);
  const run = { ...target, context, request, source, table, everyMs, base, name, passes };
  return await new VersionsImport(run, (pass) =>
    createContents<KeyChange>({
      repository,
      writer: pass.writer,
      known,
      signal,
      onFile: pass.onFile,
      idOf: (change) => idOf(address, change),
      attemptOf: (change) => idOf(address, change),
      bring: (change) => pass.writer.put(sourceOf(source, change, signal)),
      problemOf: ({ path }, error) => problemOf(path, error),
      sameProblem: (_, problem) => problem,
    }),
  ).run();
}

/** The commit of an earlier import, and the time until which it knows the bucket. */
interface Base {
  readonly commit: CommitHash;
  readonly untilMs: number;
}

/** Undefined: the branch is new. @throws `conflict` if the branch is not one of this import */
async function baseOf(
  repository: RepositoryWriter,
  name: string,
  address: string,
): Promise<Base | undefined> {
  const tip = repository.refs.find((ref) => ref.name === name);
  if (!tip) return undefined;
  const { message } = await repository.readCommit(tip.commit);
  const [from, time] = splitId(importedStateOf(message, TRAILER) ?? '');
  const untilMs = Date.parse(time);
  if (from !== address || Number.isNaN(untilMs)) throw otherBranch(name, address);
  return { commit: tip.commit, untilMs };
}

interface Run extends Pick<ImportTarget, 'history' | 'repository'> {
  readonly context: JobContext;
  readonly request: ImportVersionsRequest;
  readonly source: OpenedRemote;
  readonly table: VersionTable;
  readonly everyMs: number;
  readonly base: Base | undefined;
  /** Of the branch's ref. */
  readonly name: string;
  readonly passes: ImportPasses;
}

type OpenContents = (pass: Parameters<Parameters<ImportPasses['store']>[0]>[0]) => Contents<KeyChange>;

class VersionsImport {
  readonly #run: Run;
  readonly #openContents: OpenContents;
  readonly #problems = new Map<string, ImportProblem>();
  #contents: Contents<KeyChange> | undefined;
  #earlier: EarlierLeftOut | undefined;
  #states = 0;
  #commits = 0;

  constructor(run: Run, openContents: OpenContents) {
    this.#run = run;
    this.#openContents = openContents;
  }

  async run(): Promise<ImportSummary> {
    const { context, name, passes, repository, request } = this.#run;
    await this.#store();
    this.#earlier = earlierLeftOut(context, this.#earlierCommits(), this.#problems.values());
    emitProblems(context, [...this.#problems.values(), ...this.#earlier.problems]);
    if (this.#problems.size > 0 && !request.skipMissing) return this.#summary('refused', 0);
    context.emit({ type: 'phase', phase: 'commit' });
    const { before, commit } = await repository.publish(name, async (tip) => {
      this.#checkTip(tip);
      if (passes.isOutdated()) await this.#store();
      return this.#writeHistory();
    });
    const isMoved = before?.commit !== commit;
    return this.#summary(isMoved ? 'imported' : 'upToDate', Number(isMoved));
  }

  #checkTip(tip: StoredRef | undefined): void {
    const { base, name } = this.#run;
    if (tip?.commit === base?.commit) return;
    throw new DrayError('conflict', `The branch ${shortName(name)} moved during the import.`, {
      data: { ref: name },
      advice: 'Run the import again.',
    });
  }

  async #store(): Promise<void> {
    const { context, passes } = this.#run;
    this.#problems.clear();
    this.#states = 0;
    await passes.store(async (pass) => {
      const contents = this.#openContents(pass);
      this.#contents = contents;
      const state = await this.#openState();
      for (const step of this.#steps(state)) {
        checkAborted(context.signal);
        this.#states += 1;
        const wanted = step.changes.filter(({ content, path }) => content && state.has(path));
        const failed = await contents.bring(wanted);
        for (const problem of [...failed, ...state.problems()])
          this.#problems.set(`${problem.path}\n${problem.message}`, problem);
      }
    });
  }

  /** Of this place, the newest first. */
  *#earlierCommits(): Generator<EarlierCommit> {
    const { base, history } = this.#run;
    for (let hash = base?.commit; hash; ) {
      const earlier = history.isEarlier(hash);
      if (earlier) yield earlier;
      hash = earlier?.parents[0];
    }
  }

  async #openState(): Promise<KeyState> {
    const { base, history } = this.#run;
    const entries = base ? await history.entriesOf(base.commit) : [];
    return new KeyState(entries.filter((entry): entry is FileEntry => entry.kind === 'file'));
  }

  /** Applies to the state the spans after the base, and at last what the bucket has now, if that differs. */
  *#steps(state: KeyState): Generator<VersionStep> {
    const { base, everyMs, table } = this.#run;
    let lastMs = base?.untilMs ?? 0;
    const hidden = base ? this.#hiddenFiles(state, base) : [];
    if (hidden.length > 0) {
      state.apply(hidden);
      yield { lastMs, changes: hidden };
    }
    for (const step of table.steps(everyMs, base?.untilMs ?? -1)) {
      lastMs = step.lastMs;
      state.apply(step.changes);
      yield step;
    }
    const changes = state.differences(table.current(), (change, earlier) => {
      const isRecent = base !== undefined && change.modifiedMs >= base.untilMs - TIME_UNIT_MS;
      return isRecent && this.#contents!.find(change)?.hash !== earlier;
    });
    if (changes.length === 0) return;
    state.apply(changes);
    yield { lastMs, changes };
  }

  /** Keys that the base does not have because others lie below them. They may become files again. */
  #hiddenFiles(state: KeyState, { untilMs }: Base): readonly KeyChange[] {
    const { table } = this.#run;
    const found = [...state.folders()].flatMap((folder) => table.at(folder, untilMs) ?? []);
    return found.filter(({ content }) => content).sort((left, right) => comparePaths(left.path, right.path));
  }

  /** @returns The last commit. */
  async #writeHistory(): Promise<CommitHash> {
    const { base, context, history } = this.#run;
    this.#commits = 0;
    let last = base?.commit;
    const state = await this.#openState();
    const files = new ShownFiles(last ? (await history.entriesOf(last)).flatMap(fileOf) : [], state);
    /** Since the last commit. */
    let leftOut: string[] = [];
    for (const { changes, lastMs } of this.#steps(state)) {
      checkAborted(context.signal);
      const found = changes.map((change) => this.#fileOf(change, leftOut));
      const shown = files.apply(found);
      leftOut.push(...state.problems().map(({ path }) => path));
      if (shown.length === 0 && (last || leftOut.length === 0)) continue;
      last = await this.#write(last, { lastMs, leftOut, shown });
      leftOut = [];
    }
    // A bucket in which every key was deleted before the first span ended.
    if (!last)
      throw new DrayError('notFound', `No version at ${this.#run.source.store.address} can be imported.`);
    return last;
  }

  #write(
    last: CommitHash | undefined,
    {
      lastMs,
      leftOut,
      shown,
    }: { lastMs: number; leftOut: readonly string[]; shown: readonly ImportedChange[] },
  ): Promise<CommitHash> {
    const { context, history, source } = this.#run;
    const time = new Date(lastMs).toISOString();
    const { address } = source.store;
    const message = importMessage({
      text: `State of ${address} at ${time}`,
      trailer: TRAILER,
      id: `${address} ${time}`,
      note: noteOfLeftOut([...new Set(leftOut)], 'because it could not be read'),
    });
    const state = { author: userAuthor(context), timeMs: lastMs, message, parents: last ? [last] : [] };
    this.#commits += 1;
    return history.writeChanges(state, shown);
  }

  #fileOf(change: KeyChange, leftOut: string[]): ImportedChange {
    const { content, modifiedMs, path } = change;
    if (!content || !isFilePath(path)) return { path };
    const found = this.#contents!.find(change);
    if (found) {
      const mtimeNs = BigInt(modifiedMs) * 1_000_000n;
      return { path, file: { ...found, path, executable: false, mtimeNs } };
    }
    // What could not be brought was listed before any commit was written.
    if (!this.#run.request.skipMissing)
      throw new DrayError('internal', `${path} was not brought, and nothing was recorded.`);
    leftOut.push(path);
    return { path };
  }

  #summary(result: ImportSummary['result'], refs: number): ImportSummary {
    const { passes } = this.#run;
    const failed = this.#problems.size + (this.#earlier?.count ?? 0);
    const [states, commits] = [this.#states, this.#commits];
    return { result, states, commits, refs, failed, ...passes.sums() };
  }
}

function shortName(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

function fileOf(entry: Entry): ImportedFile[] {
  if (entry.kind !== 'file') return [];
  const { blob: hash, executable, mtimeNs, path, sizeBytes } = entry;
  return [{ hash, executable, mtimeNs, path, sizeBytes }];
}

function splitId(id: string): readonly [address: string, time: string] {
  const space = id.lastIndexOf(' ');
  return [id.slice(0, Math.max(0, space)), id.slice(space + 1)];
}

/** Versions without an id may replace each other, so the etag and the size belong to the name. */
function idOf(address: string, { content, path }: KeyChange): string {
  const { etag, sizeBytes, versionId } = content!;
  return `version:${JSON.stringify([address, path, versionId, etag, sizeBytes])}`;
}

function sourceOf({ limit, store }: OpenedRemote, change: KeyChange, signal: AbortSignal): ContentSource {
  const { content, path } = change;
  const { etag, sizeBytes, versionId } = content!;
  const name = `${path} (version ${versionId}) at ${store.address}`;
  return {
    name,
    async open() {
      const get = () => store.get(path, { versionId, isResumed: true, signal });
      const read = await limit.run(get, { bytes: 0, signal });
      if (!read) throw new DrayError('notFound', `${name} is gone.`, { data: { path } });
      if (read.etag === etag && read.sizeBytes === sizeBytes) return read;
      read.body.destroy();
      throw new DrayError('damaged', `${name} has other content than was listed.`, { data: { path } });
    },
  };
}

function noVersions(address: string): DrayError {
  return new DrayError('unsupported', `${address} keeps no versions of its objects.`, {
    data: { remote: address },
    advice: 'Import its state of now: "dray copy" it into a folder, and push that.',
  });
}

function otherBranch(name: string, address: string): DrayError {
  const message = `The repository has a branch ${shortName(name)} that does not come from the versions at ${address}.`;
  return new DrayError('conflict', message, {
    data: { ref: name },
    advice: 'Import to another branch with --branch, or to another URL.',
  });
}
