/**
 * Which commits of a repository stay and which are forgotten.
 *
 * The policy is applied to the whole history of each branch. A commit stays if the policy keeps it for any
 * branch, or if a branch or a tag names it. What only a tag leads to stays too: no policy was meant for it,
 * unless the tag is removed and no other tag leads there. Forgotten commits are passed over, as if they had
 * never been.
 */
import type { KeepReason } from '../api/events.ts';
import type { RetentionPolicy } from '../api/jobs/jobs.ts';
import type { CommitHash } from './entry.ts';
import { applyRetention, type DatedCommit } from './retention-policy.ts';

export interface KnownCommit {
  readonly parents: readonly CommitHash[];
  readonly timeMs: number;
}

/** A branch or a tag, without `heads/` or `tags/`. */
export interface NamedCommit {
  readonly kind: 'branch' | 'tag';
  readonly name: string;
  readonly commit: CommitHash;
}

export interface RetentionInput {
  /** All that the branches and tags lead to. */
  readonly commits: ReadonlyMap<CommitHash, KnownCommit>;
  /** The branches and tags that remain, and the tags that are to be removed. */
  readonly refs: readonly NamedCommit[];
  readonly removed: readonly NamedCommit[];
  readonly policy: RetentionPolicy;
  /** The repository's list. */
  readonly forgotten: ReadonlySet<CommitHash>;
  readonly nowMs: number;
}

/** The commits that the policy decides about, newest first, with the reasons to keep each; none: it goes. */
export function planRetention(input: RetentionInput): ReadonlyMap<CommitHash, readonly KeepReason[]> {
  const { commits, forgotten, nowMs, policy, refs, removed } = input;
  const branches = refs.filter(({ kind }) => kind === 'branch');
  const tags = refs.filter(({ kind }) => kind === 'tag');
  const namesOf = Map.groupBy(refs, ({ commit }) => commit);
  const reach = (from: readonly NamedCommit[]) => reachable(commits, from);
  const byTags = reach(tags);
  const byRemoved = [...reach(removed)].filter((hash) => !byTags.has(hash));
  const isDecided = (hash: CommitHash) => !forgotten.has(hash) || namesOf.has(hash);
  const reasons = new Map<CommitHash, KeepReason[]>();
  const histories = branches.map((branch) => [branch, [...reach([branch])].filter(isDecided)] as const);
  for (const hash of new Set([...histories.flatMap(([, hashes]) => hashes), ...byRemoved])) {
    if (!isDecided(hash)) continue;
    reasons.set(
      hash,
      (namesOf.get(hash) ?? []).map((ref) => ({ rule: 'ref', ref: nameOf(ref) })),
    );
  }
  for (const [branch, hashes] of histories) {
    const dated = hashes.map((hash): DatedCommit => {
      const names = (namesOf.get(hash) ?? []).filter(({ kind }) => kind === 'tag');
      return { hash, timeMs: commits.get(hash)!.timeMs, tags: names.map(({ name }) => name) };
    });
    for (const [hash, rules] of applyRetention(policy, dated, nowMs))
      reasons.get(hash)!.push(...rules.map((rule) => ({ rule, ref: branch.name })));
  }
  const timeOf = (hash: CommitHash) => commits.get(hash)!.timeMs;
  return new Map([...reasons].sort(([left], [right]) => timeOf(right) - timeOf(left)));
}

/** As the event `commit` writes it. */
function nameOf({ kind, name }: NamedCommit): string {
  return kind === 'tag' ? `tag: ${name}` : name;
}

function reachable(
  commits: RetentionInput['commits'],
  from: readonly NamedCommit[],
): ReadonlySet<CommitHash> {
  const seen = new Set(from.map(({ commit }) => commit));
  // A commit that is not known is one at which history ends.
  for (const hash of seen)
    for (const parent of commits.get(hash)?.parents ?? []) if (commits.has(parent)) seen.add(parent);
  return seen;
}
