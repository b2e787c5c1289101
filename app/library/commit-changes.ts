/** What a commit of given files and deletions changes in the version that the branch has. */
import { DrayError } from '../../engine/api/error.ts';
import type { Version } from '../../engine/jobs/versions/version.ts';
import { comparePaths, type Entry } from '../../engine/model/entry.ts';
import type { CallOptions } from '../../engine/remotes/object-store.ts';
import type { EntryChange } from '../../engine/repository/manifest/manifest.ts';

export interface GivenChanges {
  /** Undefined: the branch is new. */
  readonly version: Version | undefined;
  /** Paths, those of folders with a slash at the end. */
  readonly deleted: ReadonlySet<string>;
  /** The files, by path. */
  readonly files: ReadonlyMap<string, Entry>;
}

/** In order. @throws `conflict` if a path would be a file and a folder */
export async function changesOver(
  { deleted, files, version }: GivenChanges,
  call: CallOptions,
): Promise<readonly EntryChange[]> {
  const changes = new Map<string, Entry | undefined>();
  if (version) for await (const path of deletedIn(version, deleted, call)) changes.set(path, undefined);
  const isGone = (path: string) => changes.has(path) && changes.get(path) === undefined;
  const seen = new Set<string>();
  for (const [path, after] of files) {
    for (const folder of foldersAbove(path)) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      const above = folder.slice(0, -1);
      const isFile = files.has(above) || (!isGone(above) && (await version?.find(above, call)));
      if (isFile) throw fileAndFolder(above, path);
      // An empty folder that gets content is no entry any more.
      if (await version?.find(folder, call)) changes.set(folder, undefined);
    }
    if (version)
      for await (const inside of entriesBelow(version, `${path}/`, call))
        if (!isGone(inside)) throw fileAndFolder(path, inside);
    const before = await version?.find(path, call);
    if (!isSame(before, after)) changes.set(path, after);
    else changes.delete(path);
  }
  const sorted = [...changes].sort(([left], [right]) => comparePaths(left, right));
  return sorted.map(([path, entry]) => ({ path, ...(entry && { entry }) }));
}

async function* deletedIn(
  version: Version,
  deleted: Iterable<string>,
  call: CallOptions,
): AsyncGenerator<string> {
  for (const path of deleted)
    if (path.endsWith('/')) yield* entriesBelow(version, path, call);
    else if (await version.find(path, call)) yield path;
}

async function* entriesBelow(version: Version, folder: string, call: CallOptions): AsyncGenerator<string> {
  for (let next: { continuesAfter?: string } = {}; ; ) {
    const page = await version.list({ prefix: folder, ...next }, call);
    for (const { path } of page.entries) yield path;
    if (page.next === undefined) return;
    next = { continuesAfter: page.next };
  }
}

function* foldersAbove(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at + 1);
}

function isSame(before: Entry | undefined, after: Entry): boolean {
  return (
    before?.kind === 'file' &&
    after.kind === 'file' &&
    before.blob === after.blob &&
    before.executable === after.executable
  );
}

function fileAndFolder(file: string, inside: string): DrayError {
  return new DrayError('conflict', `${file} would be a file, and a folder with ${inside} in it.`, {
    data: { path: file, paths: [file, inside] },
    advice: 'Delete one of them in the same commit.',
  });
}
