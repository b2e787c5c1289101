/** Identifies a file's content at a peer: an etag from the fields of `stat`. */

import { isRacy } from '../files/read/open-file.ts';
import { fileToken } from '../model/tree-item.ts';

type TokenStat = Parameters<typeof fileToken>[0];

/** '' while the time is so recent that a change might not move it. */
export function peerToken(stat: TokenStat, nowMs: number): string {
  return isRacy(stat.mtimeMs, nowMs) ? '' : exactToken(stat);
}

/** For an open file, for ranges of one and the same content. */
export function exactToken(stat: TokenStat): string {
  return fileToken(stat, '-');
}
