/**
 * Damages a `file:` remote for tests: cuts and corrupts its objects, and writes commits that Dray never
 * writes.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The keys below a folder of the remote, sorted. */
export function keysBelow(remote: string, folder: string): string[] {
  if (!existsSync(join(remote, folder))) return [];
  const items = readdirSync(join(remote, folder), { withFileTypes: true, recursive: true });
  return items
    .filter((item) => item.isFile())
    .map((item) => `${folder}/${join(item.parentPath, item.name).slice(join(remote, folder).length + 1)}`)
    .sort();
}

/** The only key below the folder. */
export function onlyKey(remote: string, folder: string): string {
  const keys = keysBelow(remote, folder);
  if (keys.length !== 1) throw new Error(`${keys.length} objects below ${folder}`);
  return keys[0]!;
}

/** Truncates the object to half its size, or to `sizeBytes`. */
export function truncateObject(remote: string, key: string, sizeBytes?: number): void {
  const path = join(remote, key);
  truncateSync(path, sizeBytes ?? Math.floor(statSync(path).size / 2));
}

/** Inverts one byte; the object keeps its size. */
export function spoilObject(remote: string, key: string, at: number): void {
  const path = join(remote, key);
  const bytes = readFileSync(path);
  bytes[at] = bytes[at]! ^ 0xff;
  writeFileSync(path, bytes);
}

/** The commit that a branch names. */
export function tipOf(remote: string, branch = 'main'): string {
  return JSON.parse(readFileSync(join(remote, 'refs/heads', branch), 'utf8')).commit;
}

export function commitKeyOf(hash: string): string {
  return `commits/${hash.slice(0, 2)}/${hash.slice(2)}`;
}

/**
 * Stores an edited copy of the branch's commit under its correct hash and moves the branch to it, so that
 * nothing but the edit is wrong.
 */
export function forgeCommit(remote: string, edit: (text: string) => string, branch = 'main'): string {
  const text = zstdDecompressSync(readFileSync(join(remote, commitKeyOf(tipOf(remote, branch))))).toString();
  const edited = edit(text);
  if (edited === text) throw new Error('The edit changed nothing.');
  const hash = putNamed(remote, 'commits', edited);
  const refPath = join(remote, 'refs/heads', branch);
  const ref = JSON.parse(readFileSync(refPath, 'utf8'));
  writeFileSync(refPath, JSON.stringify({ ...ref, commit: hash }));
  return hash;
}

/** Replaces a segment by an edited copy, and the branch's commit by one that names the copy. */
export function forgeSegment(remote: string, key: string, edit: (text: string) => string): string {
  const text = zstdDecompressSync(readFileSync(join(remote, key))).toString();
  const hash = putNamed(remote, 'manifests', edit(text));
  const [, fanout, rest] = key.split('/');
  forgeCommit(remote, (commit) => commit.replace(`${fanout}${rest}`, hash));
  return `manifests/${hash.slice(0, 2)}/${hash.slice(2)}`;
}

function putNamed(remote: string, folder: string, text: string): string {
  const raw = Buffer.from(text, 'utf8');
  const hash = createHash('sha256').update(raw).digest('hex');
  const path = join(remote, folder, hash.slice(0, 2), hash.slice(2));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, zstdCompressSync(raw));
  return hash;
}
