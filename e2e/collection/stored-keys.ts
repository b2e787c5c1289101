/** What a repository's refs need, by a walk of its own, and what the store has. */
import { addContent } from '../../engine/jobs/collect/collected-repository.fixture.ts';
import type { CommitHash } from '../../engine/model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../engine/remotes/object-store.ts';
import { type Commit, readCommit } from '../../engine/repository/commit.ts';
import { commitKey, segmentKey } from '../../engine/repository/keys.ts';
import { readEntries } from '../../engine/repository/manifest/read-entries.ts';
import { listRefs } from '../../engine/repository/refs.ts';
import { readRetention } from '../../engine/repository/retention.ts';

export interface NamedByRefs {
  /** Commits that branches and tags lead to, the forgotten ones included. */
  readonly commits: ReadonlyMap<CommitHash, Commit>;
  readonly forgotten: ReadonlySet<CommitHash>;
  /** What the commits need that are not forgotten, and the objects of all commits. */
  readonly keys: ReadonlySet<RemoteKey>;
}

export async function namedByRefs(store: ObjectStore): Promise<NamedByRefs> {
  const refs = [...(await listRefs(store, 'heads')), ...(await listRefs(store, 'tags'))];
  const tips = new Set(refs.map(({ commit }) => commit));
  const list = (await readRetention(store))?.forgotten ?? [];
  const forgotten = new Set(list.filter((hash) => !tips.has(hash)));
  const commits = new Map<CommitHash, Commit>();
  const keys = new Set<RemoteKey>();
  for (const hash of tips) await visit(hash);
  return { commits, forgotten, keys };

  async function visit(first: CommitHash): Promise<void> {
    for (const open = [first]; open.length > 0; ) {
      const hash = open.pop()!;
      if (commits.has(hash)) continue;
      const commit = await readCommit(store, hash);
      commits.set(hash, commit);
      keys.add(commitKey(hash));
      open.push(...commit.parents);
      if (forgotten.has(hash)) continue;
      if (commit.manifest.kind === 'segments')
        for (const segment of commit.manifest.segments) keys.add(segmentKey(segment.hash));
      for await (const entries of readEntries(store, commit))
        for (const entry of entries) await addContent(store, entry, keys);
    }
  }
}

/** All keys below the prefixes. */
export async function keysBelow(
  store: ObjectStore,
  prefixes: readonly string[],
): Promise<ReadonlySet<RemoteKey>> {
  const keys = new Set<RemoteKey>();
  for (const prefix of prefixes) {
    for (let from: { continuation?: string } | undefined = {}; from; ) {
      const page = await store.list({ prefix, ...from });
      for (const { key } of page.objects) keys.add(key);
      from = page.continuation === undefined ? undefined : { continuation: page.continuation };
    }
  }
  return keys;
}
