/**
 * Trees of objects named by their content, made as hard links to existing files: a million of them take no
 * room.
 */
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The hash of each file in hex, by path. Reads one whole file at a time. */
export function hashFiles(
  folder: string,
  paths: Iterable<string>,
  hash: 'sha256' | 'md5',
): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const path of paths)
    hashes.set(
      path,
      createHash(hash)
        .update(readFileSync(join(folder, path)))
        .digest('hex'),
    );
  return hashes;
}

/** Links each content once, at `ab/<the rest of the hash>`. Both folders must be on one file system. */
export function linkByContent(from: string, hashes: ReadonlyMap<string, string>, to: string): void {
  const linked = new Set<string>();
  const folders = new Set<string>();
  for (const [path, hash] of hashes) {
    if (linked.has(hash)) continue;
    linked.add(hash);
    const folder = join(to, hash.slice(0, 2));
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true });
    folders.add(folder);
    linkSync(join(from, path), join(folder, hash.slice(2)));
  }
}
