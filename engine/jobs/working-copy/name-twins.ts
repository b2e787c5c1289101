/**
 * Entries of a commit whose names are one name on this disk, because case or Unicode form does not count
 * there. One of them can be here; the others are left out (`unheld-entries.ts`). What is here already stays
 * here, so that no pull swaps the two. Else the first by the order of paths is kept, which is that of their
 * bytes: `README` before `readme`.
 */
import { areOneName, foldsUnicode, isCaseInsensitive } from '../../files/scan/case-sensitivity.ts';
import { type AreOne, collisionFinder, type NameCollision } from '../../model/name-collisions.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import type { Session } from '../session/open-workspace.ts';
import { partOf } from '../session/workspace-scope.ts';

/** By the path of an entry that is left out: the name that is here in its place. */
export type NameTwins = ReadonlyMap<string, string>;

const NONE: NameTwins = new Map();

/** No request where names that differ are different. */
export async function findNameTwins(
  session: Session,
  store: ObjectStore,
  commit: Commit,
): Promise<NameTwins> {
  if (!foldsNames(session)) return NONE;
  const finder = collisionFinder(areOneHere(session));
  const collisions: NameCollision[] = [];
  for await (const path of pathsOf(session, store, commit)) collisions.push(...finder.add(path));
  if (collisions.length === 0) return NONE;
  const stays = whatStays(session, collisions);
  const twins = new Map<string, string>();
  for await (const path of pathsOf(session, store, commit)) {
    const twin = twinOf(path, stays);
    if (twin !== undefined) twins.set(path, twin);
  }
  return twins;
}

/** Whether names that differ may be one on the disk of the workspace. */
export function foldsNames({ context, workspace }: Pick<Session, 'context' | 'workspace'>): boolean {
  if (context.environment.DRAY_ASSUME_CASE_INSENSITIVE === '1') return true;
  return isCaseInsensitive(workspace.temporaryFolder) || foldsUnicode(workspace.temporaryFolder);
}

/** The disk may fold case alone, or Unicode form alone. */
function areOneHere({ context, workspace }: Session): AreOne {
  if (context.environment.DRAY_ASSUME_CASE_INSENSITIVE === '1') return () => true;
  const nameOf = (path: string) => path.replace(/\/$/, '').split('/').at(-1)!;
  return (path, other) => areOneName(workspace.temporaryFolder, nameOf(other), nameOf(path));
}

/** The part of the commit that the disk could hold, with earlier twins. */
async function* pathsOf(session: Session, store: ObjectStore, commit: Commit): AsyncGenerator<string> {
  const { unheld = {} } = session.state;
  const options = { scope: partOf(session), signal: session.context.signal };
  for await (const page of readEntries(store, commit, options))
    for (const { path } of page) if (unheld[path] === undefined || unheld[path] === 'twin') yield path;
}

/** By each name that is left out: the one that stays. A folder's ends in `/`. */
function whatStays(session: Session, collisions: readonly NameCollision[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string[]>();
  for (const { other, path } of collisions) groups.set(other, [...(groups.get(other) ?? [other]), path]);
  const named = new Set([...groups.values()].flat());
  const here = new Set<string>();
  for (const page of session.index.files.workingPaths())
    for (const path of page) for (const name of namesOn(path)) if (named.has(name)) here.add(name);
  const stays = new Map<string, string>();
  for (const names of groups.values()) {
    const kept = names.find((name) => here.has(name)) ?? names[0]!;
    for (const name of names) if (name !== kept) stays.set(name, kept);
  }
  return stays;
}

/** The entry's own path or that of a folder above it. */
function twinOf(path: string, stays: ReadonlyMap<string, string>): string | undefined {
  for (const name of namesOn(path)) {
    const kept = stays.get(name);
    if (kept !== undefined) return kept;
  }
  return undefined;
}

/** The folders above a path, with their slash, and the path. */
function* namesOn(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at !== -1 && at < path.length - 1; at = path.indexOf('/', at + 1))
    yield path.slice(0, at + 1);
  yield path;
}
