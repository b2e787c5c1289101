/**
 * Finds the commits that refs lead to, for verifications and collections. It reads the store: a cache would
 * hide that one is gone.
 */
import type { DrayError } from '../../../api/error.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { type Commit, readCommit } from '../../../repository/commit.ts';
import { readOrEnd } from '../../../repository/history-end.ts';
import { type AnyRef, listRefNames, onlyLive, readAnyRef, type StoredRef } from '../../../repository/refs.ts';
import { readForgotten } from '../../retention/forgotten.ts';
import type { FindingsReport, VerifyTools } from './findings.ts';

export interface WalkTools extends Pick<VerifyTools, 'limit' | 'store'> {
  readonly context: Pick<VerifyTools['context'], 'signal'>;
}

export type Tip = Pick<StoredRef, 'commit' | 'collects' | 'epoch'>;

/** Bounds memory: a commit of a large dataset lists some thousand segments. */
const COMMITS_AT_ONCE = 32;

/** The branches and tags; undefined when there is neither. */
export async function readTips(
  tools: VerifyTools,
  findings: FindingsReport,
): Promise<readonly StoredRef[] | undefined> {
  const { present, tips } = await readRefs(tools, findings);
  return present.length === 0 ? undefined : tips;
}

export interface ReadRefs {
  /** Those that are live and can be read. */
  readonly tips: readonly StoredRef[];
  /** All that are there. One that cannot be read is damaged, and not lost. */
  readonly present: readonly Pick<AnyRef, 'again' | 'name' | 'state'>[];
}

export async function readRefs(
  { context: { signal }, limit, store }: VerifyTools,
  findings: FindingsReport,
): Promise<ReadRefs> {
  const [branches, tags] = await Promise.all([
    listRefNames(store, 'heads', { signal }),
    listRefNames(store, 'tags', { signal }),
  ]);
  const refs = [...branches, ...tags].map(async (name) => {
    try {
      return (await limit.run(() => readAnyRef(store, name, { signal }), { bytes: 0, signal })) ?? [];
    } catch (error) {
      findings.report(error);
      return { name, state: 'live' as const };
    }
  });
  const present = (await Promise.all(refs)).flat();
  const tips = present.flatMap((ref) => ('commit' in ref ? (onlyLive(ref) ?? []) : []));
  return { present, tips };
}

/** The commits whose content is not there to be verified. */
export async function findForgotten(
  { context: { signal }, store }: VerifyTools,
  tips: readonly Tip[],
  findings: FindingsReport,
): Promise<ReadonlySet<CommitHash>> {
  try {
    return await readForgotten(store, tips, { signal });
  } catch (error) {
    findings.report(error);
    return new Set();
  }
}

export interface CommitWalk {
  readonly tips: readonly CommitHash[];
  readonly findings: FindingsReport;
  /** The walk waits for it. */
  readonly onCommit: (hash: CommitHash, commit: Commit) => Promise<void> | void;
  /** Called for a commit that cannot be read, and at which history ends. */
  readonly onEnd?: (hash: CommitHash, error: DrayError) => void;
  /** Commits of earlier walks, which are left out, and to which this walk adds its own. */
  readonly seen?: Set<CommitHash>;
}

/**
 * These commits and all that they are based on, always in the same order. Commit by commit, so that a damaged
 * one hides only its own past.
 */
export async function walkCommits(
  tools: WalkTools,
  { findings, onCommit, onEnd, seen = new Set(), tips }: CommitWalk,
): Promise<void> {
  const readParent = async (hash: CommitHash) => {
    let fault: unknown;
    const report = (error: unknown) => {
      fault = error;
    };
    const commit = await readOne(tools, hash, { ...findings, report });
    if (commit) return commit;
    const { context, store } = tools;
    const fail = () => Promise.reject(fault as Error);
    try {
      await readOrEnd(store, hash, fail, { isListedOnly: true, signal: context.signal });
      onEnd?.(hash, fault as DrayError);
    } catch (error) {
      findings.report(error);
    }
    return undefined;
  };
  let isFirst = true;
  let level = [...new Set(tips)].filter((hash) => !seen.has(hash));
  for (const hash of level) seen.add(hash);
  while (level.length > 0) {
    const parents = new Set<CommitHash>();
    for (let at = 0; at < level.length; at += COMMITS_AT_ONCE) {
      const hashes = level.slice(at, at + COMMITS_AT_ONCE);
      // What a ref names must be there.
      const read = isFirst ? (hash: CommitHash) => readOne(tools, hash, findings) : readParent;
      const commits = await Promise.all(hashes.map(read));
      for (const [index, commit] of commits.entries()) {
        if (!commit) continue;
        await onCommit(hashes[index]!, commit);
        for (const parent of commit.parents) parents.add(parent);
      }
    }
    isFirst = false;
    level = [...parents].filter((hash) => !seen.has(hash));
    for (const hash of level) seen.add(hash);
  }
}

/** Undefined when it cannot be read. */
export async function readOne(
  { context: { signal }, limit, store }: WalkTools,
  hash: CommitHash,
  findings: FindingsReport,
): Promise<Commit | undefined> {
  try {
    return await limit.run(() => readCommit(store, hash, { signal }), { bytes: 0, signal });
  } catch (error) {
    findings.report(error);
    return undefined;
  }
}
