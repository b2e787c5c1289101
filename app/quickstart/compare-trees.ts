/** Compares two folders byte for byte without Dray's own code, because Dray must not check itself. */
import { createReadStream, type Dirent, type Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface TreeComparison {
  readonly files: number;
  readonly links: number;
  readonly folders: number;
  readonly bytes: number;
  /** One sentence for each difference; empty when the trees are equal. */
  readonly differences: readonly string[];
}

/** @param leftOut Names at the top that are not compared. */
export async function compareTrees(
  left: string,
  right: string,
  leftOut: readonly string[],
): Promise<TreeComparison> {
  const [ours, theirs] = await Promise.all([listTree(left, leftOut), listTree(right, leftOut)]);
  const differences: string[] = [];
  const totals = { files: 0, links: 0, folders: 0, bytes: 0 };
  for (const path of theirs.keys()) if (!ours.has(path)) differences.push(`${path} is only in ${right}`);
  for (const [path, mine] of ours) {
    const other = theirs.get(path);
    if (!other) {
      differences.push(`${path} is only in ${left}`);
      continue;
    }
    if (mine.isFile()) totals.files += 1;
    else if (mine.isSymbolicLink()) totals.links += 1;
    else totals.folders += 1;
    if (mine.isFile()) totals.bytes += mine.size;
    const difference = await compareItems(
      { path: join(left, path), stats: mine },
      { path: join(right, path), stats: other },
    );
    if (difference) differences.push(`${path}: ${difference}`);
  }
  return { ...totals, differences };
}

async function listTree(root: string, leftOut: readonly string[]): Promise<Map<string, Stats>> {
  const found = new Map<string, Stats>();
  const isLeftOut = (item: Dirent) => item.parentPath === root && leftOut.includes(item.name);
  const visit = async (folder: string): Promise<void> => {
    for (const item of await readdir(join(root, folder), { withFileTypes: true })) {
      if (folder === '' && isLeftOut(item)) continue;
      const path = folder === '' ? item.name : `${folder}/${item.name}`;
      const isKept = item.isFile() || item.isSymbolicLink() || item.isDirectory();
      if (isKept) found.set(path, await lstat(join(root, path)));
      if (item.isDirectory()) await visit(path);
    }
  };
  await visit('');
  return found;
}

interface Item {
  readonly path: string;
  readonly stats: Stats;
}

const EXECUTABLE = 0o100;

async function compareItems(left: Item, right: Item): Promise<string | undefined> {
  if (left.stats.isSymbolicLink() || right.stats.isSymbolicLink()) {
    if (left.stats.isSymbolicLink() !== right.stats.isSymbolicLink())
      return 'a link in one, none in the other';
    return (await readlink(left.path)) === (await readlink(right.path))
      ? undefined
      : 'the links point elsewhere';
  }
  if (left.stats.isDirectory() || right.stats.isDirectory()) {
    return left.stats.isDirectory() === right.stats.isDirectory()
      ? undefined
      : 'a folder in one, a file in the other';
  }
  if (left.stats.size !== right.stats.size) return `${left.stats.size} bytes and ${right.stats.size} bytes`;
  if ((left.stats.mode & EXECUTABLE) !== (right.stats.mode & EXECUTABLE)) return 'executable in one only';
  return (await haveEqualContent(left.path, right.path)) ? undefined : 'the content differs';
}

/** Both files have the same size. */
async function haveEqualContent(left: string, right: string): Promise<boolean> {
  const options = { highWaterMark: 1024 * 1024 };
  const others = createReadStream(right, options)[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  for await (const block of createReadStream(left, options)) {
    while (rest.length < block.length) {
      const { done, value } = await others.next();
      if (done) return false;
      rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    }
    if (!block.equals(rest.subarray(0, block.length))) return false;
    rest = rest.subarray(block.length);
  }
  return true;
}
