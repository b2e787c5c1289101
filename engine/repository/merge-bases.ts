/**
 * The merge bases of two commits: their common ancestors that are no ancestor of another common ancestor.
 * Mostly one; two lines that were merged crosswise have several.
 *
 * The walk is git's `paint_down_to_common`: newest first, each commit painted by the sides that reach it. It
 * ends when everything open lies before a common ancestor, so the history below is not read. A wrong clock
 * costs reads, and cannot hide a merge base: no commit between a side and a merge base is common.
 */
import { DrayError } from '../api/error.ts';
import type { CommitHash } from '../model/entry.ts';
import type { Commit } from './commit.ts';

export type ReadHistory = (hash: CommitHash) => Promise<Pick<Commit, 'parents' | 'time'>>;

/** Each costs a request, unless the index has the commit. */
const READS_MAX = 20_000;

const ONE = 1;
const OTHER = 2;
const COMMON = ONE | OTHER;
/** Before a common ancestor. */
const STALE = 4;

interface Open {
  readonly hash: CommitHash;
  readonly time: string;
}

/**
 * In order of their hashes. Empty if the histories have nothing in common.
 * @throws `unsupported` if more than 20,000 commits would have to be read
 */
export async function findMergeBases(
  one: CommitHash,
  other: CommitHash,
  read: ReadHistory,
): Promise<readonly CommitHash[]> {
  if (one === other) return [one];
  const readHistory = bounded(read);
  const paint = new Map<CommitHash, number>([
    [one, ONE],
    [other, OTHER],
  ]);
  const open: Open[] = [];
  const add = async (hash: CommitHash) => {
    open.push({ hash, time: (await readHistory(hash)).time });
  };
  await Promise.all([add(one), add(other)]);
  const found = new Set<CommitHash>();
  while (open.some(({ hash }) => !isStale(paint, hash))) {
    const { hash } = takeNewest(open);
    const own = paint.get(hash)!;
    const isCommon = (own & COMMON) === COMMON;
    if (isCommon && !isStale(paint, hash)) found.add(hash);
    const below = isCommon ? own | STALE : own;
    const repainted = (await readHistory(hash)).parents.filter((parent) => {
      const before = paint.get(parent) ?? 0;
      paint.set(parent, before | below);
      return (before & below) !== below;
    });
    await Promise.all(repainted.map(add));
  }
  const bases = [...found].filter((hash) => !isStale(paint, hash)).sort();
  return bases.length > 1 ? await withoutAncestors(bases, readHistory) : bases;
}

/** Whether `own` is the tip or one of its ancestors. @throws `unsupported`, as above */
export async function isInHistory(own: CommitHash, tip: CommitHash, read: ReadHistory): Promise<boolean> {
  return await leads(tip, own, bounded(read));
}

function isStale(paint: ReadonlyMap<CommitHash, number>, hash: CommitHash): boolean {
  return (paint.get(hash)! & STALE) !== 0;
}

/** As many are open as the histories have lines side by side. */
function takeNewest(open: Open[]): Open {
  let newest = 0;
  for (let at = 1; at < open.length; at += 1) if (open[at]!.time > open[newest]!.time) newest = at;
  return open.splice(newest, 1)[0]!;
}

/** Where clocks are wrong, the walk may end before a base is seen to lie before another one. */
async function withoutAncestors(
  bases: readonly CommitHash[],
  read: ReadHistory,
): Promise<readonly CommitHash[]> {
  const kept: CommitHash[] = [];
  for (const hash of bases) {
    let isBefore = false;
    for (const later of bases) isBefore ||= later !== hash && (await leads(later, hash, read));
    if (!isBefore) kept.push(hash);
  }
  return kept;
}

/** Newest first, so that a branch that was merged is not read down to its beginning. */
async function leads(tip: CommitHash, own: CommitHash, read: ReadHistory): Promise<boolean> {
  const seen = new Set([tip]);
  const open: Open[] = [{ hash: tip, time: '' }];
  while (open.length > 0) {
    const { hash } = takeNewest(open);
    if (hash === own) return true;
    const { parents } = await read(hash);
    if (parents.includes(own)) return true;
    const unseen = parents.filter((parent) => !seen.has(parent));
    for (const parent of unseen) seen.add(parent);
    open.push(
      ...(await Promise.all(
        unseen.map(async (parent) => ({ hash: parent, time: (await read(parent)).time })),
      )),
    );
  }
  return false;
}

function bounded(read: ReadHistory): ReadHistory {
  const known = new Map<CommitHash, ReturnType<ReadHistory>>();
  return (hash) => {
    const found = known.get(hash);
    if (found) return found;
    if (known.size >= READS_MAX) throw tooLong();
    const reading = read(hash).then(({ parents, time }) => ({ parents, time }));
    known.set(hash, reading);
    return reading;
  };
}

function tooLong(): DrayError {
  const most = READS_MAX.toLocaleString('en-US');
  return new DrayError('unsupported', `These histories differ by more than ${most} commits.`, {
    data: { most: READS_MAX },
  });
}
