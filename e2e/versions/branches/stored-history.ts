/** Reads what is on the store into the model, by Dray's own readers. */
import { hash as hashOf } from 'node:crypto';
import type { CommitHash } from '../../../engine/model/entry.ts';
import type { RemoteKey } from '../../../engine/remotes/object-store.ts';
import { readCommit } from '../../../engine/repository/commit.ts';
import { keysOfEntry } from '../../../engine/repository/manifest/entry-keys.ts';
import { readEntries } from '../../../engine/repository/manifest/read-entries.ts';
import { requireRule } from './model-fault.ts';
import type { World } from './world.ts';

/** Adds a commit to the model. False if it has it already. */
export async function learnCommit(world: World, hash: string): Promise<boolean> {
  const { contents, history, store } = world;
  if (history.commits.has(hash)) return false;
  const commit = await readCommit(store, hash as CommitHash);
  const files = new Map<string, string>();
  const keys = new Map<string, readonly RemoteKey[]>();
  for await (const entries of readEntries(store, commit, {}))
    for (const entry of entries) {
      if (entry.kind === 'link') files.set(entry.path, `link:${entry.target}`);
      if (entry.kind !== 'file') continue;
      keys.set(entry.path, [...keysOfEntry(entry)]);
      const content = contents.get(entry.blob);
      requireRule(content !== undefined, 'a commit has content that nobody wrote', () => entry.path);
      files.set(entry.path, content!);
    }
  for (const parent of commit.parents)
    requireRule(history.commits.has(parent), 'a commit has an unknown parent', () => ({ hash, parent }));
  history.add({ hash, parents: commit.parents, author: commit.author, files });
  world.keys.set(hash, keys);
  for (const content of files.values()) world.stored.add(content);
  return true;
}

export function knowContent(world: World, content: string): void {
  world.contents.set(hashOf('sha256', content, 'hex'), content);
}
