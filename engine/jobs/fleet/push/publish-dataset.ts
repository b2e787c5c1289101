/**
 * The end of a fleet's push: joins the segments of all parts, writes the commit, and moves the branch by
 * compare-and-swap. Where the branch has moved meanwhile, a merge commit is put on top, as in `dray push`.
 *
 * The commit follows from the job's documents, so a repeated step writes the same one. If an earlier run has
 * moved the branch, the step finds its commit among the branch's newest ones.
 */

import { isDeepStrictEqual } from 'node:util';
import { DrayError } from '../../../api/error.ts';
import type { FleetRequest, PublishResult } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { systemClock } from '../../../base/clock.ts';
import type { CommitHash, Entry } from '../../../model/entry.ts';
import { mergeChanges } from '../../../model/merge.ts';
import { findUnseen, notStored, type WrittenObject } from '../../../query/existence/find-unseen.ts';
import { findAvoided } from '../../../repository/collection/find-avoided.ts';
import { publish } from '../../../repository/collection/publish.ts';
import { type Commit, encodeCommit, readCommit, storeCommit } from '../../../repository/commit.ts';
import { diffCommits } from '../../../repository/diff-commits.ts';
import { readLinks } from '../../../repository/history-end.ts';
import { commitKey, segmentKey } from '../../../repository/keys.ts';
import { leadsTo } from '../../../repository/leads-to.ts';
import { buildManifest } from '../../../repository/manifest/build-manifest.ts';
import { joinManifest } from '../../../repository/manifest/join-manifest.ts';
import { EMPTY_MANIFEST, type Manifest, type SegmentRef } from '../../../repository/manifest/manifest.ts';
import type { EncodedSegment } from '../../../repository/manifest/segment.ts';
import { readSegment, writeSegment } from '../../../repository/manifest/stored-segment.ts';
import { readRef, type StoredRef } from '../../../repository/refs.ts';
import { checkBelongs } from '../../session/link-repository.ts';
import { collectChanges } from '../../working-copy/conflicts.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { DatasetPieces } from './dataset-pieces.ts';
import { changesNear } from './near-changes.ts';
import { type PushTarget, readTarget } from './push-target.ts';
import { whyUnmerged } from './why-unmerged.ts';

/** What the parts stored is not made again here: that takes the source. */
const COLLECTED =
  'A collection of garbage has removed content that this job needs, so nothing was committed. Run the job again.';

export async function publishDataset(
  context: JobContext,
  folder: FleetFolder,
  { ranges, request }: { readonly request: FleetRequest; readonly ranges: number },
): Promise<PublishResult> {
  const target = await readTarget(context, folder, request);
  return new Publication(context, folder, { ranges, request, target }).run();
}

interface PublicationOptions {
  readonly request: FleetRequest;
  readonly ranges: number;
  readonly target: PushTarget;
}

interface WrittenCommit {
  readonly hash: CommitHash;
  readonly commit: Commit;
}

class Publication {
  readonly #context: JobContext;
  readonly #folder: FleetFolder;
  readonly #options: PublicationOptions;
  readonly #call: { readonly signal: AbortSignal };
  #written: WrittenObject[] = [];

  constructor(context: JobContext, folder: FleetFolder, options: PublicationOptions) {
    this.#context = context;
    this.#folder = folder;
    this.#options = options;
    this.#call = { signal: context.signal };
  }

  async run(): Promise<PublishResult> {
    const { base, branch } = this.#options.target;
    if (this.#options.request.workers) {
      const unmerged = await whyUnmerged(this.#context, this.#folder, this.#options);
      if (unmerged) return { refused: unmerged };
    }
    const pieces = new DatasetPieces(this.#folder, this.#options, this.#call);
    const { manifest, totals } = await joinManifest({
      pieces: pieces.inOrder(),
      loadSegment: (segment) => this.#load(segment),
      onSegment: (segment) => this.#store(segment),
      avoid: this.#options.target.view,
      ...this.#call,
    });
    if (pieces.missingParts > 0)
      return refused(`${pieces.missingParts} parts were not stored, so nothing was committed.`, 'partial');
    const clash = await pieces.findClash(manifest);
    if (clash !== undefined) {
      this.#warn(clash, `${clash} is an object, and other objects lie below this name.`);
      return refused(CLASH, 'partial');
    }
    if (await this.#isSame(manifest, base?.commit.manifest ?? EMPTY_MANIFEST))
      return { branch, isNew: false, ...(base ? { commit: base.hash } : {}) };
    const own = await this.#write({
      manifest,
      totals,
      parents: base ? [base.hash] : [],
      message: this.#message(),
    });
    return this.#publish(own);
  }

  async #publish(own: WrittenCommit): Promise<PublishResult> {
    const { base, branch, repository, view } = this.#options.target;
    const { store } = this.#folder;
    const read = (hash: CommitHash) =>
      readLinks(store, hash, () => readCommit(store, hash, this.#call), this.#call);
    const search = { own: own.hash, base: base?.hash, read };
    let refusal: string | undefined;
    const { commit } = await publish({
      store,
      name: `heads/${branch}`,
      repository,
      tip: await readRef(store, `heads/${branch}`, this.#call),
      view,
      seen: base?.hash,
      clock: systemClock,
      ...this.#call,
      prepare: async (tip) => {
        checkBelongs(store, tip, repository);
        if (tip && (await leadsTo({ ...search, tip: tip.commit }))) return tip.commit;
        if (await this.#isCondemned(own, tip)) refusal = COLLECTED;
        const isOnBase = !tip || tip.commit === base?.hash;
        if (!isOnBase && !(await this.#leadsToBase(tip))) refusal = replacedUnder(branch);
        const merged = isOnBase || refusal ? own.hash : await this.#merge(own, tip);
        if (merged === undefined) refusal = conflictOn(branch);
        if (refusal === undefined) return merged!;
        throw new DrayError('conflict', refusal, { data: { branch } });
      },
    }).catch((error: unknown) => {
      if (refusal === undefined) throw error;
      return { commit: undefined };
    });
    if (commit === undefined) return refused(refusal!, 'conflict');
    return { branch, commit, isNew: true };
  }

  /** False if somebody has moved the branch to another history since the job began. */
  async #leadsToBase(tip: StoredRef): Promise<boolean> {
    const { base } = this.#options.target;
    const { store } = this.#folder;
    const read = (hash: CommitHash) =>
      readLinks(store, hash, () => readCommit(store, hash, this.#call), this.#call);
    return !base || (await leadsTo({ tip: tip.commit, own: base.hash, base: undefined, read }));
  }

  /** A collection that began after the job may have removed what the job stored or found. */
  async #isCondemned(own: WrittenCommit, tip: StoredRef | undefined): Promise<boolean> {
    const { base, round, view } = this.#options.target;
    if (!view || view.round === 0) return false;
    if (view.round === round && tip?.commit === base?.hash) return false;
    const except = tip?.commit === base?.hash ? base?.commit : undefined;
    const found = await findAvoided(this.#folder.store, own, view, { except, ...this.#call });
    return found !== undefined;
  }

  /** Undefined when both sides changed a path differently. */
  async #merge(own: WrittenCommit, tip: StoredRef): Promise<CommitHash | undefined> {
    const { store } = this.#folder;
    const { base } = this.#options.target;
    const theirCommit = await readCommit(store, tip.commit, this.#call);
    const theirs = await collectChanges(diffCommits(store, base?.commit, theirCommit, this.#call));
    const ours = await changesNear(diffCommits(store, base?.commit, own.commit, this.#call), theirs);
    const { conflicts, takeTheirs } = mergeChanges(ours, theirs);
    for (const { path } of conflicts) this.#warn(path, `${path} was changed on the branch and by this job.`);
    if (conflicts.length > 0) return undefined;
    const { manifest, totals } = await buildManifest({
      base: own.commit.manifest,
      loadBaseEntries: (segment) => this.#load(segment),
      changes: [takeTheirs.map(({ after, path }) => ({ path, ...(after ? { entry: after } : {}) }))],
      onSegment: (segment) => this.#store(segment),
      avoid: this.#options.target.view,
      ...this.#call,
    });
    const message = `Merge: ${own.commit.message}`;
    const time = new Date(systemClock.nowMs()).toISOString();
    const parents = [tip.commit, own.hash];
    return (await this.#write({ manifest, totals, parents, message, time })).hash;
  }

  /** The commit's content is confirmed when this resolves. */
  async #write(
    content: Pick<Commit, 'manifest' | 'totals' | 'parents' | 'message'> & { readonly time?: string },
  ): Promise<WrittenCommit> {
    const { repository, time } = this.#options.target;
    const { author = '' } = this.#options.request;
    const { limit, store } = this.#folder.remote;
    const commit: Commit = { repository, author, time, ...content };
    const encoded = encodeCommit(commit, this.#options.target.round);
    await storeCommit(store, encoded, this.#call);
    const written = [...this.#written, { key: commitKey(encoded.hash), sizeBytes: encoded.bytes.length }];
    this.#written = [];
    for (const lost of await findUnseen(store, written, { limit, ...this.#call }))
      throw notStored(store, lost);
    return { hash: encoded.hash, commit };
  }

  #warn(path: string, message: string): void {
    this.#context.emit({ type: 'warning', warning: 'fleetConflict', message, path });
  }

  /** Before the first collection a commit holds its only segment itself, and later it lists it. */
  async #isSame(left: Manifest, right: Manifest): Promise<boolean> {
    if (left.kind === 'segments' && right.kind === 'segments')
      return (
        left.segments.length === right.segments.length &&
        left.segments.every(({ hash }, at) => hash === right.segments[at]!.hash)
      );
    const [one, other] = await Promise.all([this.#onlyEntries(left), this.#onlyEntries(right)]);
    return isDeepStrictEqual(one, other);
  }

  /** Undefined for a manifest of several segments. */
  async #onlyEntries(manifest: Manifest): Promise<readonly Entry[] | undefined> {
    if (manifest.kind === 'inline') return manifest.entries;
    const [only, ...more] = manifest.segments;
    return only && more.length === 0 ? await this.#load(only) : undefined;
  }

  #load(segment: SegmentRef) {
    return readSegment(this.#folder.store, segment, this.#call);
  }

  async #store(segment: EncodedSegment): Promise<void> {
    await writeSegment(this.#folder.store, segment, this.#call);
    this.#written.push({ key: segmentKey(segment.hash), sizeBytes: segment.bytes.length });
  }

  #message(): string {
    const { message, source, workers } = this.#options.request;
    return (
      message ?? `Push: ${workers ? `workers ${workers.join(', ')}` : source.place.replace(/\?.*$/s, '')}`
    );
  }
}

const CLASH =
  'An object has the name of a folder in which other objects lie, so nothing was committed. The worker that ended the job names it.';

function replacedUnder(branch: string): string {
  return `The history of the branch ${branch} was replaced while this job ran, so nothing was committed. Push again to put the objects on top.`;
}

function conflictOn(branch: string): string {
  return `The branch ${branch} changed some of the same paths as this job, so nothing was committed. Push again to put the objects on top.`;
}

function refused(message: string, code: 'conflict' | 'partial'): PublishResult {
  return { refused: { code, message } };
}
