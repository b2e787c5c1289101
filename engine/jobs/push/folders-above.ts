/**
 * A workspace that holds a part of a dataset does not see what the branch has above that part. A new file in
 * a folder that the branch has as an empty one ends that entry, and one below a file of the branch cannot be
 * recorded at all: in a valid tree no path is a file, or an empty folder, and also lies above another.
 */
import { DrayError } from '../../api/error.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { Change } from '../../model/diff.ts';
import { comparePaths, type Entry } from '../../model/entry.ts';
import type { Scope } from '../../model/scope.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import type { EntryChange } from '../../repository/manifest/manifest.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { readChanges } from '../working-copy/working-changes.ts';

export interface CommitAbove {
  readonly commit: Commit | undefined;
  /** `branch`: its commit of now. `earlier`: the workspace's base, and the branch has another commit now. */
  readonly of: 'branch' | 'earlier';
}

/**
 * The entries of empty folders outside of the workspace's scope that its new files fill, as removals, in
 * order. No request for a whole workspace, or below a folder that the scope holds as a whole; else at most
 * two segments for each folder above a new file.
 * @throws `conflict` if a file or link of the commit lies above a new file
 */
export async function fillFoldersAbove(
  session: Session,
  store: ObjectStore,
  { commit, of }: CommitAbove,
): Promise<readonly EntryChange[]> {
  const scope = scopeOf(session);
  if (!scope || !commit) return [];
  const filled = new Set<string>();
  const seen = new Set<string>();
  for (const page of readChanges(session)) {
    for (const change of page) {
      if (change.before || !change.after) continue;
      for (const folder of foldersAbove(change, scope)) {
        if (seen.has(folder)) break;
        seen.add(folder);
        const first = await firstEntryFrom(session, store, commit, folder);
        if (first === folder) filled.add(folder);
        // Something lies in it, so it is a folder, and so are those above it.
        else if (first?.startsWith(folder)) break;
        else await refuseFile(session, store, { commit, of }, { folder, path: change.path });
      }
    }
  }
  return [...filled].sort(comparePaths).map((path) => ({ path }));
}

/** The deepest first. What the scope holds as a whole is in the index, and the merge has looked at it. */
function* foldersAbove({ path }: Change, scope: Scope): Generator<string> {
  const end = path.endsWith('/') ? path.length - 2 : path.length - 1;
  for (let at = path.lastIndexOf('/', end); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at + 1);
    if (!scope.holds(folder)) yield folder;
  }
}

async function firstEntryFrom(
  { context }: Session,
  store: ObjectStore,
  commit: Commit,
  from: string,
): Promise<string | undefined> {
  for await (const [entry] of readEntries(store, commit, { from, prefetch: 1, signal: context.signal }))
    return entry!.path;
  return undefined;
}

async function refuseFile(
  { context, state }: Session,
  store: ObjectStore,
  { commit, of }: CommitAbove,
  { folder, path }: { readonly folder: string; readonly path: string },
): Promise<void> {
  const file = folder.slice(0, -1);
  let found: Entry | undefined;
  for await (const [entry] of readEntries(store, commit!, {
    from: file,
    prefetch: 1,
    signal: context.signal,
  })) {
    found = entry;
    break;
  }
  if (found?.path !== file) return;
  const [what, data] = [`a ${found.kind} at ${file}`, { path, paths: [file], reason: 'outsideScope' }];
  if (of === 'earlier')
    throw new DrayError(
      'conflict',
      `${path} cannot be pushed: the commit on which this workspace is based has ${what}, which it does not hold, and the branch ${state.branch} has another commit now.`,
      { data, advice: 'Pull first, then push.', command: 'dray pull' },
    );
  throw new DrayError(
    'conflict',
    `${path} cannot be pushed: the branch ${state.branch} has ${what}, which this workspace does not hold.`,
    {
      data,
      advice: `Move it elsewhere in the part. To replace the ${found.kind}, move the folder ${file} away, run "dray scope add ${shellWord(file)}", delete the ${found.kind}, move the folder back, and push.`,
    },
  );
}
