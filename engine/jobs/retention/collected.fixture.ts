/** Removes from a `file:` remote what the given commits do not need, as a collection would. For tests. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { commitKeyOf, keysBelow } from '../session/damage.fixture.ts';

/** @returns The keys that it removed. Commits stay. */
export function collectGarbage(remote: string, kept: readonly string[]): string[] {
  const live = new Set<string>();
  const note = (key: string) => {
    const text = zstdDecompressSync(readFileSync(join(remote, key))).toString('utf8');
    for (const [hash] of text.matchAll(/\b[0-9a-f]{64}\b/g)) live.add(hash);
  };
  const nameOf = (key: string) => key.split('/').slice(1).join('');
  for (const hash of kept) note(commitKeyOf(hash));
  for (const key of keysBelow(remote, 'manifests')) if (live.has(nameOf(key))) note(key);
  const content = ['manifests', 'objects', 'packs'].flatMap((folder) => keysBelow(remote, folder));
  const garbage = content.filter((key) => !live.has(nameOf(key)));
  for (const key of garbage) rmSync(join(remote, key));
  return garbage;
}
