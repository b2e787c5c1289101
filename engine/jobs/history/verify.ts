/**
 * `dray verify`: checks that the remote has all that kept commits name and, with `--read-data`, that its
 * bytes are still those that were pushed. By default it checks all commits that branches and tags lead to;
 * with a ref, that one. `verify/` has the steps, which a fleet uses too.
 *
 * Memory: one record for each pack, object and segment that the commits name, and the entries of one segment.
 */
import type { JobContext, VerifyRequest, VerifySummary } from '../../api/jobs/jobs.ts';
import { formatCount, formatPlural } from '../../api/text/numbers.ts';
import type { CommitHash, Entry, SegmentHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { goneRef } from '../../repository/collection/gone-ref.ts';
import { lostRefs } from '../../repository/collection/ref-record.ts';
import type { Commit } from '../../repository/commit.ts';
import { damaged } from '../../repository/document.ts';
import { REFS_PREFIX, refKey } from '../../repository/keys.ts';
import type { StoredRef } from '../../repository/refs.ts';
import { followedBase } from '../session/branch/replaced-history.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveContent } from '../session/resolve-commit.ts';
import { warnOfEnd } from './log.ts';
import { checkCollection } from './verify/check-collection.ts';
import { checkDescriptor } from './verify/check-descriptor.ts';
import { type MoveCheck, readMoves } from './verify/check-moves.ts';
import { checkSlots } from './verify/check-slots.ts';
import { dataChoiceOf } from './verify/choose-data.ts';
import { readCommitsAhead } from './verify/commits-ahead.ts';
import { committedEntries, segmentEntries } from './verify/committed-entries.ts';
import { findForgotten, type ReadRefs, readOne, readRefs, walkCommits } from './verify/find-commits.ts';
import { type CommitSegment, Findings, type VerifyTools } from './verify/findings.ts';
import { ObjectCheck } from './verify/object-check.ts';

export async function verify(context: JobContext, request: VerifyRequest): Promise<VerifySummary> {
  using session = await openSession(context, 'verify', 'shared');
  await using remote = await openSessionRemote(session);
  const tools = { context, clock: session.clock, ...remote };
  return (await findDamage(session, tools, request)).summary;
}

export interface Damage {
  readonly summary: VerifySummary;
  /** Refs, commits, segments and other documents that cannot be read. */
  readonly documents: ReadonlySet<RemoteKey>;
  /** Objects and packs. */
  readonly objects: ReadonlyMap<RemoteKey, { readonly isMissing: boolean }>;
  /** Packs whose content lies in faulty ones now. */
  readonly moved: ReadonlySet<RemoteKey>;
  /** The commits that refs name. */
  readonly tips: ReadonlySet<CommitHash>;
  /** The commits that refs lead to. */
  readonly commits: ReadonlySet<CommitHash>;
}

/** @param known Keys of objects that are known to be damaged. */
export async function findDamage(
  session: Session,
  tools: VerifyTools,
  request: VerifyRequest,
  known: Iterable<RemoteKey> = [],
): Promise<Damage> {
  return await new Verifier(session, tools, request).run(known);
}

class Verifier {
  readonly #session: Session;
  readonly #tools: VerifyTools;
  readonly #request: VerifyRequest;
  readonly #findings: Findings;
  readonly #objects: ObjectCheck;
  #moves: MoveCheck | undefined;
  #commits = 0;
  #forgotten = 0;
  #files = 0;
  readonly #seen = new Set<CommitHash>();
  #tips: ReadonlySet<CommitHash> = new Set();
  readonly #inlineCommits: CommitHash[] = [];
  readonly #segments = new Map<SegmentHash, CommitSegment>();

  constructor(session: Session, tools: VerifyTools, request: VerifyRequest) {
    this.#session = session;
    this.#tools = tools;
    this.#request = request;
    this.#findings = new Findings(tools);
    this.#objects = new ObjectCheck(tools);
  }

  async run(known: Iterable<RemoteKey>): Promise<Damage> {
    this.#tools.context.emit({ type: 'phase', phase: 'verify' });
    await this.#collectCommits();
    const findings = this.#findings;
    const objects = this.#objects;
    const content = { findings, inlineCommits: this.#inlineCommits, segments: [...this.#segments.values()] };
    for await (const entries of segmentEntries(this.#tools, content)) this.#noteEntries(entries);
    await objects.checkExistence();
    objects.assumeDamaged(known);
    const choice = dataChoiceOf(this.#request, this.#tools.clock);
    if (choice) await objects.readData(choice);
    const affected = await objects.reportDamage(() => committedEntries(this.#tools, content));
    const { missing } = objects;
    const damaged = objects.damaged + findings.unreadable;
    this.#emitTotals(missing + damaged, choice !== undefined);
    const summary = {
      commits: this.#commits,
      forgotten: this.#forgotten,
      files: this.#files,
      objects: objects.objects,
      storedBytes: objects.storedBytes,
      readObjects: objects.readObjects,
      readBytes: objects.readBytes,
      ...(choice?.kind === 'part' ? { sample: `${choice.part}/${choice.of}` } : {}),
      missing,
      damaged,
      affectedPaths: affected + findings.unlistedFiles,
      requests: this.#tools.meter.totals(),
    };
    return {
      summary,
      documents: findings.keys,
      objects: objects.faults,
      moved: objects.movedToFaulty,
      tips: this.#tips,
      commits: this.#seen,
    };
  }

  async #collectCommits(): Promise<void> {
    const { ref } = this.#request;
    const findings = this.#findings;
    if (ref !== undefined) {
      const hash = await resolveContent(this.#session, this.#tools.store, ref);
      const commit = await readOne(this.#tools, hash, findings);
      if (commit) this.#noteCommit(hash, commit);
      return;
    }
    const { present, tips } = await readRefs(this.#tools, findings);
    const isEmpty = present.length === 0;
    await checkDescriptor(this.#session, this.#tools, { refs: tips, isEmpty, findings });
    const collects = await checkCollection(this.#tools, tips, findings, present);
    this.#checkSeen(tips, present);
    if (tips.length === 0 && findings.unreadable === 0) this.#checkRefs();
    await checkSlots(this.#tools, tips[0]?.repository, findings);
    if (collects) this.#moves = await readMoves(this.#tools);
    const forgotten = await findForgotten(this.#tools, tips, findings);
    const onCommit = (hash: CommitHash, commit: Commit) => {
      if (forgotten.has(hash)) this.#forgotten += 1;
      else this.#noteCommit(hash, commit);
    };
    const commits = tips.map(({ commit }) => commit);
    this.#tips = new Set(commits);
    await using ahead = readCommitsAhead(this.#tools);
    const tools = { ...this.#tools, store: ahead.store };
    const onEnd = (hash: CommitHash) => warnOfEnd(this.#tools.context, hash);
    await walkCommits(tools, { tips: commits, findings, onCommit, onEnd, seen: this.#seen });
  }

  #noteCommit(hash: CommitHash, { manifest, totals }: Commit): void {
    this.#commits += 1;
    this.#files += totals.files;
    if (manifest.kind === 'inline') {
      this.#inlineCommits.push(hash);
      this.#noteEntries(manifest.entries);
      return;
    }
    for (const segment of manifest.segments)
      if (!this.#segments.has(segment.hash)) this.#segments.set(segment.hash, { segment, commit: hash });
  }

  #noteEntries(entries: readonly Entry[]): void {
    this.#objects.note(entries);
    this.#moves?.check(entries, this.#findings);
  }

  /** The branch that this workspace has seen, unless the record of a round has named it already. */
  #checkSeen(tips: readonly StoredRef[], present: ReadRefs['present']): void {
    const commit = followedBase(this.#session);
    const name = `heads/${this.#session.state.branch}`;
    // Where no garbage is collected, a removed ref leaves nothing.
    if (!commit || !tips.some(({ collects }) => collects) || this.#findings.keys.has(refKey(name))) return;
    const { store } = this.#tools;
    for (const lost of lostRefs([{ commit, name }], present))
      this.#findings.report(goneRef(store, lost.name, lost.commit));
  }

  /** Without a branch and a tag nothing can be verified. A workspace that pushed or pulled knows of one. */
  #checkRefs(): void {
    const { remoteName, state } = this.#session;
    const base = state.bases[remoteName];
    if (base === undefined) return;
    const why = `no branch and no tag is left, but this workspace knows the commit ${base.slice(0, 12)}`;
    this.#findings.report(damaged(REFS_PREFIX, why));
  }

  #emitTotals(faults: number, isRead: boolean): void {
    if (faults > 0) return;
    const { objects, readObjects } = this.#objects;
    const read = `existence and sizes, ${formatCount(readObjects)} of ${formatCount(objects)} objects read`;
    const how = isRead ? read : 'existence and sizes';
    const held = `${formatPlural(this.#commits, 'commit')}, ${formatPlural(this.#objects.objects, 'object')}`;
    const detail = `${held}: ${how}`;
    this.#tools.context.emit({ type: 'check', check: 'repository', result: 'ok', detail });
  }
}
