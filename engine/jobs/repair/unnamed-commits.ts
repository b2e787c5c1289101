/** Commits on the store that no ref leads to: what is left when somebody deleted the refs. */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { Commit } from '../../repository/commit.ts';
import { COMMITS_PREFIX, hashFromCommitKey } from '../../repository/keys.ts';
import { commitEvent } from '../history/log.ts';
import { readOne, type WalkTools } from '../history/verify/find-commits.ts';
import { isFinding } from '../history/verify/findings.ts';

const READS_AT_ONCE = 32;
/** Newer ones suffice to find the one that a branch named. */
const SHOWN_MAX = 20;

export type UnnamedCommit = readonly [CommitHash, Omit<Commit, 'manifest'>];

export interface UnnamedCommits {
  /** Those that are no commit's parent, newest first. */
  readonly heads: readonly UnnamedCommit[];
  /** Whether the commit is one of these commits, or is before one of them. */
  leads(from: CommitHash, to: CommitHash): boolean;
}

/**
 * One LIST for each 1,000 commits, and one GET for each that no ref leads to. Commits that cannot be read are
 * left out.
 * @param known The commits that refs lead to.
 */
export async function findUnnamed(tools: WalkTools, known: ReadonlySet<CommitHash>): Promise<UnnamedCommits> {
  const hashes = (await listCommits(tools)).filter((hash) => !known.has(hash));
  const found = new Map<CommitHash, Omit<Commit, 'manifest'>>();
  const parents = new Set<CommitHash>();
  const findings = { report: skipUnreadable };
  for (let at = 0; at < hashes.length; at += READS_AT_ONCE) {
    const some = hashes.slice(at, at + READS_AT_ONCE);
    const commits = await Promise.all(some.map((hash) => readOne(tools, hash, findings)));
    for (const [index, commit] of commits.entries()) {
      if (!commit) continue;
      const { manifest: _, ...record } = commit;
      found.set(some[index]!, record);
      for (const parent of record.parents) parents.add(parent);
    }
  }
  const heads = [...found]
    .filter(([hash]) => !parents.has(hash))
    .sort(([, left], [, right]) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
  const leads = (from: CommitHash, to: CommitHash): boolean => {
    const before = new Set([from]);
    for (const hash of before) for (const parent of found.get(hash)?.parents ?? []) before.add(parent);
    return before.has(to);
  };
  return { heads, leads };
}

async function listCommits({ context: { signal }, store }: WalkTools): Promise<readonly CommitHash[]> {
  const hashes: CommitHash[] = [];
  let continuation: string | undefined;
  do {
    const page = await store.list(
      { prefix: COMMITS_PREFIX, ...(continuation === undefined ? {} : { continuation }) },
      { signal },
    );
    hashes.push(...page.objects.flatMap(({ key }) => hashFromCommitKey(key) ?? []));
    continuation = page.continuation;
  } while (continuation !== undefined);
  return hashes;
}

export function showUnnamed({ emit }: Pick<JobContext, 'emit'>, commits: readonly UnnamedCommit[]): void {
  for (const [hash, commit] of commits.slice(0, SHOWN_MAX))
    emit({ ...commitEvent({ hash, commit }, new Set()), refs: [] });
}

function skipUnreadable(error: unknown): void {
  if (!isFinding(error)) throw error;
}
