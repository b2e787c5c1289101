/**
 * `dray repair --end-history COMMIT`: the way out where the record of an old commit is lost for good. It
 * names the commits before it, so nobody can walk over history any more: no policy can be applied, and no
 * collection knows what is needed. The user decides that history begins after it
 * (`repository/history-end.ts`).
 *
 * What the lost commit and the commits before it had alone is garbage from then on. So this comes after all
 * that could bring the commit back, and never for a commit that a branch or a tag names.
 */
import { crc32 } from 'node:zlib';
import { DrayError } from '../../api/error.ts';
import type { RepairSummary } from '../../api/jobs/repair.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { readCollectionState } from '../../repository/collection/collection-state.ts';
import { readCommit } from '../../repository/commit.ts';
import { commitKey, hashFromCommitKey } from '../../repository/keys.ts';
import { checkLength, type Retention, readRetention, writeRetention } from '../../repository/retention.ts';
import { warnOfEnd } from '../history/log.ts';
import { readRefs, walkCommits } from '../history/verify/find-commits.ts';
import { isFinding, type VerifyTools } from '../history/verify/findings.ts';
import { linkRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { findKnownDocuments } from './known-documents.ts';
import { findUnnamed, showUnnamed } from './unnamed-commits.ts';

const RACES_MAX = 20;
/** So short a beginning could be a slip. */
const DIGITS_MIN = 6;

interface EndRequest {
  readonly text: string;
  readonly dryRun: boolean;
}

/** @throws `notFound`, `usage`, `conflict`; and `damaged` if a ref or the list cannot be read */
export async function endHistory(
  session: Session,
  tools: VerifyTools,
  { dryRun, text }: EndRequest,
): Promise<RepairSummary> {
  const { context } = session;
  const { ends, named, tips, unreadable } = await walkHistories(tools);
  const hash = chooseLost(text, { ends, unreadable });
  if (tips.has(hash)) throw isNamed(hash);
  const link = await linkRepository(session, tools.store, session.state.branch);
  const found = await findElsewhere(session, tools, hash, link);
  const summary = {
    found: unreadable.size,
    leftInBranch: 0,
    affectedPaths: 0,
    uploadedObjects: 0,
    uploadedBytes: 0,
    lostRefs: 0,
    commit: hash,
  };
  if (found) {
    if (!dryRun) await bringBack(tools.store, hash, found);
    const result = dryRun ? ('wouldRepair' as const) : ('repaired' as const);
    const left = unreadable.size - (dryRun ? 0 : 1);
    const sent = dryRun ? {} : { uploadedObjects: 1, uploadedBytes: found.length };
    return { ...summary, ...sent, result, left, unnamed: 0, requests: tools.meter.totals() };
  }
  if (!dryRun) {
    await changeLost(tools, link.uuid, (lost) => [...lost, hash]);
    warnOfEnd(context, hash);
  }
  const { heads } = await findUnnamed(tools, named);
  showUnnamed(context, heads);
  const result = dryRun ? ('wouldEnd' as const) : ('ended' as const);
  const left = unreadable.size - 1;
  return { ...summary, result, left, unnamed: heads.length, requests: tools.meter.totals() };
}

/** Takes commits off the list that can be read again, while a collection has not removed what they need. */
export async function takeBackEnds(tools: VerifyTools): Promise<void> {
  const { context, store } = tools;
  const { signal } = context;
  const retention = await readRetention(store, { signal });
  const back = new Set<CommitHash>();
  for (const hash of retention?.lost ?? []) if (await isWhole(store, hash, signal)) back.add(hash);
  if (!retention || back.size === 0) return;
  await changeLost(tools, retention.repository, (lost) => lost.filter((hash) => !back.has(hash)));
  for (const hash of back) {
    const message = `The commit ${hash} can be read again, so history goes on before it.`;
    context.emit({ type: 'warning', warning: 'historyContinues', message });
  }
}

/** The commit and its parents: behind these, history is what it is. */
async function isWhole(store: ObjectStore, hash: CommitHash, signal: AbortSignal): Promise<boolean> {
  try {
    const { parents } = await readCommit(store, hash, { signal });
    for (const parent of parents) await readCommit(store, parent, { signal });
    return true;
  } catch (error) {
    if (!isFinding(error)) throw error;
    return false;
  }
}

interface Histories {
  readonly tips: ReadonlySet<CommitHash>;
  /** All commits that refs lead to. */
  readonly named: ReadonlySet<CommitHash>;
  readonly unreadable: ReadonlySet<CommitHash>;
  /** At these somebody has ended history. */
  readonly ends: ReadonlySet<CommitHash>;
}

async function walkHistories(tools: VerifyTools): Promise<Histories> {
  const unreadable = new Set<CommitHash>();
  const refuse = (error: unknown) => {
    throw error;
  };
  const found = await readRefs(tools, { isReadable: () => true, report: refuse } as never);
  const tips = new Set(found.tips.map(({ commit }) => commit));
  const report = (error: unknown) => {
    const key = isFinding(error) ? error.data.key : undefined;
    const hash = typeof key === 'string' ? hashFromCommitKey(key) : undefined;
    if (hash === undefined) throw error;
    unreadable.add(hash);
  };
  const named = new Set<CommitHash>();
  const findings = { isReadable: () => true, report } as never;
  const ends = new Set<CommitHash>();
  const onEnd = (hash: CommitHash) => void ends.add(hash);
  await walkCommits(tools, { tips: [...tips], findings, onCommit: () => {}, onEnd, seen: named });
  return { tips, named, unreadable, ends };
}

function chooseLost(text: string, { ends, unreadable }: Pick<Histories, 'ends' | 'unreadable'>): CommitHash {
  const digits = text.toLowerCase();
  const ended = [...ends].find((each) => each.startsWith(digits));
  const [hash, another] = [...unreadable].filter((each) => each.startsWith(digits));
  if (hash && !another && digits.length >= DIGITS_MIN) return hash;
  const lost = [...unreadable].map((each) => each.slice(0, 10)).join(', ');
  const message = ended
    ? `History ends at ${ended.slice(0, 10)} already.`
    : unreadable.size === 0
      ? `All commits that branches and tags lead to can be read, so history does not end at ${text}.`
      : `${text} does not name a commit that is lost. Lost are: ${lost}.`;
  throw new DrayError('notFound', message, { data: { commit: text, lost: [...unreadable] } });
}

function isNamed(hash: CommitHash): DrayError {
  const message = `A branch or a tag names ${hash.slice(0, 10)} itself, so history cannot end there.`;
  return new DrayError('conflict', message, {
    data: { commit: hash, reason: 'isTip' },
    advice: 'Move it to a commit that can be read: "dray branch NAME COMMIT --force".',
    command: 'dray branch',
  });
}

/** The bytes of the commit, from this workspace or from another remote of the same repository. */
async function findElsewhere(
  session: Session,
  tools: VerifyTools,
  hash: CommitHash,
  link: Awaited<ReturnType<typeof linkRepository>>,
): Promise<Uint8Array | undefined> {
  const { signal } = session.context;
  const key = commitKey(hash);
  // What is damaged is never overwritten, and what was condemned never written again.
  const isAbsent = (await tools.store.head(key, { signal }).catch(keepDamaged)) === undefined;
  if (!isAbsent || link.view?.avoids(key)) return undefined;
  const known = findKnownDocuments(session, link, new Set([key])).get(key);
  if (known) return known;
  for (const [remoteName, remote] of Object.entries(session.config.remotes)) {
    if (remoteName === session.remoteName || remote.repository !== link.uuid) continue;
    const other = await openSessionRemote({ ...session, remoteName });
    try {
      await readCommit(other.store, hash, { signal });
      return (await other.store.read(key, { signal, maxBytes: COMMIT_MAX_BYTES }))?.bytes;
    } catch (error) {
      if (!isFinding(error)) throw error;
    } finally {
      await other[Symbol.asyncDispose]();
    }
  }
  return undefined;
}

const COMMIT_MAX_BYTES = 64 * 1024 * 1024;

function keepDamaged(error: unknown): null {
  if (!isDamage(error)) throw error;
  return null;
}

async function bringBack(store: ObjectStore, hash: CommitHash, bytes: Uint8Array): Promise<void> {
  await store.put(commitKey(hash), bytes, { condition: { absent: true }, checksum: { crc32: crc32(bytes) } });
}

/** By compare-and-swap: others may forget commits at the same moment. */
async function changeLost(
  { context: { signal }, store }: VerifyTools,
  repository: string,
  change: (lost: readonly CommitHash[]) => readonly CommitHash[],
): Promise<void> {
  for (let race = 0; race < RACES_MAX; race += 1) {
    const counted = (await readCollectionState(store, { signal }))?.state.forgotten ?? 0;
    const current = await readRetention(store, { signal });
    checkLength(store, current, counted);
    const lost = [...new Set(change(current?.lost ?? []))];
    const next: Retention = { repository, forgotten: [], ...current, lost };
    if (await writeRetention(store, next, current, { signal })) return;
  }
  throw new DrayError('conflict', 'Other machines changed the list of forgotten commits again and again.', {
    retry: 'retry',
    advice: 'Run the command again.',
  });
}
