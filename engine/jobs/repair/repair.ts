/**
 * `dray repair`: rebuilds what can be. jobs/README.md ("Damage") has the rules. In order:
 *
 * 1. Find what is missing or damaged, as `dray verify` does.
 * 2. Put missing documents back that the index still has: equal names prove equal bytes.
 * 3. Retire the keys of what is damaged. A damaged object is never overwritten.
 *    A lost state of the collection is made again first (`restore-state.ts`).
 * 4. Store lost content again from the working copy: under its own key if that is free, else under a new one,
 *    which a commit on top of the branch names.
 * 5. Look again, and report what is left.
 *
 * A killed run has done nothing twice and nothing halfway: the next one finds less to do.
 */
import { crc32 } from 'node:zlib';
import type { JobEvent } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { RepairRequest, RepairSummary } from '../../api/jobs/repair.ts';
import { formatPlural } from '../../api/text/numbers.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { readDescriptor } from '../../repository/descriptor.ts';
import {
  COLLECTION_KEY,
  COLLECTION_PREFIX,
  DESCRIPTOR_KEY,
  hashFromCommitKey,
  isContentKey,
  REFS_PREFIX,
  RETENTION_KEY,
} from '../../repository/keys.ts';
import { isFinding, type VerifyTools } from '../history/verify/findings.ts';
import { type Damage, findDamage } from '../history/verify.ts';
import { restoreBase } from '../push/push.ts';
import { warnIfUnsafe } from '../session/conditional-writes.ts';
import { type LinkedRepository, linkRepository, notARepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { endHistory, takeBackEnds } from './end-history.ts';
import { findKnownDocuments, withDocuments } from './known-documents.ts';
import { findNewest } from './newest-commit.ts';
import { restoreBranch } from './restore-branch.ts';
import { restoreDescriptor } from './restore-descriptor.ts';
import { restoreRefRecord } from './restore-ref-record.ts';
import { restoreRetention } from './restore-retention.ts';
import { restoreState } from './restore-state.ts';
import { retireKeys } from './retire-keys.ts';
import { findUnnamed, showUnnamed } from './unnamed-commits.ts';

export async function repair(context: JobContext, request: RepairRequest): Promise<RepairSummary> {
  const { branch, commit, dryRun = false } = request;
  using session = await openSession(context, 'repair', dryRun ? 'shared' : 'exclusive');
  await using remote = await openSessionRemote(session);
  const tools = { context, clock: session.clock, ...remote };
  if (request.endHistory !== undefined)
    return await endHistory(session, tools, { text: request.endHistory, dryRun });
  if (branch !== undefined) {
    const ref = commit ?? (await findNewest(session, tools, branch));
    return await repairBranch(session, tools, { branch, ref, dryRun });
  }
  return await new Repairer(session, tools, request).run();
}

async function repairBranch(
  session: Session,
  tools: VerifyTools,
  request: Parameters<typeof restoreBranch>[2],
): Promise<RepairSummary> {
  const { commit, damage, faults } = await restoreBranch(session, tools, request);
  if (!request.dryRun) session.context.emit({ type: 'ref', name: request.branch, commit, current: false });
  return {
    result: request.dryRun ? 'wouldRepair' : 'repaired',
    found: faults,
    left: faults,
    leftInBranch: damage.objects.size,
    affectedPaths: damage.summary.affectedPaths,
    uploadedObjects: 0,
    uploadedBytes: 0,
    branch: request.branch,
    commit,
    lostRefs: 0,
    unnamed: 0,
    requests: tools.meter.totals(),
  };
}

/** Those that no branch and no tag names. */
function lostCommitsOf({ documents, tips }: Damage): Pick<RepairSummary, 'lostCommits'> {
  const lostCommits = [...documents].flatMap((key) => hashFromCommitKey(key) ?? []);
  const old = lostCommits.filter((hash) => !tips.has(hash));
  return old.length === 0 ? {} : { lostCommits: old };
}

/** What a run has sent. */
interface Sent {
  readonly uploadedObjects: number;
  readonly uploadedBytes: number;
  readonly commit?: string;
}

const NOTHING_SENT: Sent = { uploadedObjects: 0, uploadedBytes: 0 };

interface Documents {
  /** Keys. */
  readonly left: readonly RemoteKey[];
  readonly objects: Damage['objects'];
  readonly replaced: ReadonlyMap<RemoteKey, Uint8Array>;
}

class Repairer {
  readonly #session: Session;
  readonly #tools: VerifyTools;
  readonly #request: RepairRequest;

  constructor(session: Session, tools: VerifyTools, request: RepairRequest) {
    this.#session = session;
    this.#tools = tools;
    this.#request = request;
  }

  async run(): Promise<RepairSummary> {
    const { dryRun = false, ...read } = this.#request;
    const seen = await findDamage(this.#session, this.#tools, read);
    // Nothing else can be written to what is no repository.
    const isDescriptorLost = seen.documents.has(DESCRIPTOR_KEY) && !dryRun;
    const first = isDescriptorLost ? await this.#restoreDescriptor() : seen;
    // Without the list, what a collection has removed looks like damage.
    const isListLost = first.documents.has(RETENTION_KEY) && !dryRun;
    const damage = isListLost ? await this.#restoreRetention(first) : first;
    if (!dryRun) await takeBackEnds(this.#tools);
    const unnamed = await this.#reportUnnamed(damage.commits);
    const found = countOf(damage);
    const again = (isListLost ? 1 : 0) + (isDescriptorLost ? 1 : 0);
    if (found === 0 || dryRun) {
      const result = again > 0 ? 'repaired' : found === 0 ? 'nothingToRepair' : 'wouldRepair';
      const outcome = { result, found: found + again, left: damage, leftInBranch: found, unnamed } as const;
      return this.#summary(outcome, NOTHING_SENT);
    }
    const sent = await this.#restore(damage);
    const known = [...damage.objects].filter(([, { isMissing }]) => !isMissing).map(([key]) => key);
    const left = await findDamage(this.#session, quiet(this.#tools, 'unrepaired'), {}, known);
    const leftInBranch = await this.#leftInBranch(known);
    const isBetter = again > 0 || countOf(left) < found || sent.commit !== undefined;
    return this.#summary(
      {
        result: isBetter ? 'repaired' : 'notRepaired',
        found: found + again,
        left,
        leftInBranch,
        unnamed,
      },
      sent,
    );
  }

  #summary(
    outcome: Pick<RepairSummary, 'result' | 'found' | 'leftInBranch' | 'unnamed'> & { readonly left: Damage },
    { commit, ...sent }: Sent,
  ): RepairSummary {
    const { left, ...counts } = outcome;
    return {
      ...counts,
      left: countOf(left),
      lostRefs: [...left.documents].filter((key) => key.startsWith(REFS_PREFIX)).length,
      ...lostCommitsOf(left),
      affectedPaths: left.summary.affectedPaths,
      ...sent,
      ...(commit === undefined ? {} : { branch: this.#session.state.branch, commit }),
      requests: this.#tools.meter.totals(),
    };
  }

  async #reportUnnamed(named: ReadonlySet<CommitHash>): Promise<number> {
    const { heads } = await findUnnamed(this.#tools, named);
    showUnnamed(this.#session.context, heads);
    return heads.length;
  }

  async #restore(damage: Damage): Promise<Sent> {
    const session = this.#session;
    // Without refs that can be read, nobody can be told which keys are retired.
    if ([...damage.documents].some((key) => key.startsWith(REFS_PREFIX))) return NOTHING_SENT;
    // Before the workspace looks at the state, which would be one of no collection.
    if (damage.documents.has(COLLECTION_KEY)) await this.#restoreState();
    else await restoreRefRecord(this.#tools, damage.documents);
    const link = await linkRepository(session, this.#tools.store, session.state.branch);
    if (!link.tip) return NOTHING_SENT;
    await warnIfUnsafe(session, this.#tools.store, link);
    const { left: found, objects, replaced } = await this.#restoreDocuments(link, damage);
    const left = found.filter((key) => key !== COLLECTION_KEY);
    if (left.some((key) => key.startsWith(COLLECTION_PREFIX))) return NOTHING_SENT;
    const isThere = [...objects].filter(([, { isMissing }]) => !isMissing).map(([key]) => key);
    // A missing document is not retired: another workspace may put it back.
    const present = await Promise.all(left.map((key) => this.#isThere(key)));
    const damaged = [...left.filter((_, at) => present[at]), ...replaced.keys(), ...isThere];
    if (link.view) await this.#retire(link, damaged);
    else if (isThere.length + replaced.size > 0) this.#warnOfUpgrade();
    const store = withDocuments(this.#tools.store, replaced);
    const restoration = {
      faulty: new Set([...objects.keys(), ...damage.moved]),
      replaced: new Set(link.view ? replaced.keys() : []),
    };
    try {
      const restored = await restoreBase(session, { ...this.#tools, store }, restoration);
      const { commit, result, uploadedBytes, uploadedObjects } = restored;
      const sent = { uploadedBytes, uploadedObjects };
      return result === 'pushed' && commit !== null ? { ...sent, commit } : sent;
    } catch (error) {
      // The base itself cannot be listed: the second look reports it.
      if (!isFinding(error)) throw error;
      return NOTHING_SENT;
    }
  }

  /** @returns The damage that is left. */
  async #restoreDescriptor(): Promise<Damage> {
    await restoreDescriptor(this.#session, this.#tools);
    return await findDamage(this.#session, quiet(this.#tools), this.#request);
  }

  async #restoreState(): Promise<void> {
    await restoreState({ ...this.#tools, repository: await this.#repositoryId() });
  }

  /** @returns The damage that is left. */
  async #restoreRetention(found: Damage): Promise<Damage> {
    // The state counts the forgotten commits, and names the lists of what was removed.
    if (found.documents.has(COLLECTION_KEY)) await this.#restoreState();
    const tools = { ...this.#tools, repository: await this.#repositoryId() };
    const { counted, isPolicyKept, listed } = await restoreRetention(tools);
    const rest = counted > listed ? ' The others have all their content, and count as kept.' : '';
    const known = `It has ${listed} of ${formatPlural(counted, 'forgotten commit')}.${rest}`;
    const lost = isPolicyKept ? '' : ' The policy that was kept with the list is lost.';
    const advice = `Run "dray forget${isPolicyKept ? '' : ' --save'}" with the rules that you want.`;
    const message = `The list of forgotten commits was made again. ${known}${lost} ${advice}`;
    this.#session.context.emit({ type: 'warning', warning: 'retentionRestored', message, advice });
    return await findDamage(this.#session, quiet(this.#tools), this.#request);
  }

  async #repositoryId(): Promise<string> {
    const { store } = this.#tools;
    const descriptor = await readDescriptor(store, { signal: this.#session.context.signal });
    if (!descriptor) throw notARepository(store, { isUnmet: false });
    return descriptor.id;
  }

  /**
   * A commit that is known shows which of its segments are damaged, and these what else is.
   * @returns The bytes of documents that are damaged where they are, and the keys of unknown ones.
   */
  async #restoreDocuments(link: LinkedRepository, found: Damage): Promise<Documents> {
    const replaced = new Map<RemoteKey, Uint8Array>();
    const objects = new Map(found.objects);
    const documents = new Set(found.documents);
    const tried = new Set<RemoteKey>();
    for (;;) {
      const fresh = new Set([...documents].filter((key) => !tried.has(key)));
      const known = findKnownDocuments(this.#session, link, fresh);
      for (const key of fresh) tried.add(key);
      if (known.size === 0) break;
      const putBack = await this.#putBack(link, known);
      for (const [key, bytes] of known) {
        documents.delete(key);
        if (!putBack.has(key)) replaced.set(key, bytes);
      }
      const tools = { ...quiet(this.#tools), store: withDocuments(this.#tools.store, replaced) };
      const deeper = await findDamage(this.#session, tools, {});
      for (const key of deeper.documents) documents.add(key);
      for (const [key, fault] of deeper.objects) objects.set(key, fault);
    }
    return { left: [...documents], objects, replaced };
  }

  /** Stores missing documents under their names. @returns Their keys. */
  async #putBack(
    { view }: LinkedRepository,
    known: ReadonlyMap<RemoteKey, Uint8Array>,
  ): Promise<ReadonlySet<RemoteKey>> {
    const { store } = this.#tools;
    const { signal } = this.#session.context;
    const done = new Set<RemoteKey>();
    for (const [key, bytes] of known) {
      // A collection may have sent a DELETE for it that is still on its way.
      if (view?.avoids(key) || (await this.#isThere(key))) continue;
      await store.put(key, bytes, { condition: { absent: true }, checksum: { crc32: crc32(bytes) }, signal });
      done.add(key);
    }
    return done;
  }

  async #isThere(key: RemoteKey): Promise<boolean> {
    try {
      return (await this.#tools.store.head(key, { signal: this.#session.context.signal })) !== undefined;
    } catch (error) {
      // An object of an encrypted repository that does not authenticate.
      if (isDamage(error)) return true;
      throw error;
    }
  }

  async #retire({ uuid, view }: LinkedRepository, damaged: readonly RemoteKey[]): Promise<void> {
    const keys = damaged.filter((key) => isContentKey(key) && !view!.avoids(key));
    if (keys.length > 0) await retireKeys({ ...this.#tools, repository: uuid }, keys);
  }

  #warnOfUpgrade(): void {
    const advice = 'Run "dray upgrade" once, then "dray repair" again.';
    const message = `This repository has no second keys for damaged objects yet. ${advice}`;
    this.#session.context.emit({ type: 'warning', warning: 'notUpgraded', message, advice });
  }

  async #leftInBranch(known: readonly RemoteKey[]): Promise<number> {
    const { branch } = this.#session.state;
    try {
      return countOf(await findDamage(this.#session, quiet(this.#tools), { ref: branch }, known));
    } catch {
      return 1;
    }
  }
}

function countOf({ documents, objects }: Damage): number {
  return documents.size + objects.size;
}

/** @param as The name of the checks that fail; without it nothing is reported. */
function quiet(tools: VerifyTools, as?: string): VerifyTools {
  const emit = (event: JobEvent) => {
    if (event.type !== 'check') return;
    if (as !== undefined && event.result === 'failed') tools.context.emit({ ...event, check: as });
  };
  return { ...tools, context: { ...tools.context, emit } };
}
