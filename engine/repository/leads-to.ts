import type { CommitHash } from '../model/entry.ts';
import type { Commit } from './commit.ts';

/** How many commits, newest first, are searched. */
const SEARCHED_MAX = 1_000;

export interface Search {
  /** One commit, or several. */
  readonly tip: CommitHash | readonly CommitHash[];
  readonly own: CommitHash;
  /** The search does not go below it. */
  readonly base: CommitHash | undefined;
  readonly read: (hash: CommitHash) => Promise<Pick<Commit, 'parents'>>;
}

/** Whether `own` is a tip or one of its ancestors down to the base. */
export async function leadsTo({ base, own, read, tip }: Search): Promise<boolean> {
  const seen = new Set(base === undefined ? [] : [base]);
  const open = [tip].flat();
  for (let hash = open.shift(); hash !== undefined; hash = open.shift()) {
    if (hash === own) return true;
    if (seen.has(hash)) continue;
    if (seen.size > SEARCHED_MAX) return false;
    seen.add(hash);
    open.push(...(await read(hash)).parents);
  }
  return false;
}
