/** The sums of what there is to pull and to push, in the same words in the window and in the tray. */
import type { IncomingLook } from '../host/home.ts';
import { formatCount, formatPlural } from './numbers.ts';

export interface PendingSum {
  readonly count: number;
  /** True if there are more than the count. */
  readonly isMore: boolean;
  /** The count with its unit. */
  readonly words: string;
}

/** The commits of all workspaces. Where none was counted, the workspaces. Undefined if there is nothing. */
export function sumToPull(looks: readonly IncomingLook[]): PendingSum | undefined {
  const incoming = looks.filter(({ hasIncoming }) => hasIncoming);
  if (incoming.length === 0) return undefined;
  const count = incoming.reduce((sum, look) => sum + (look.incoming?.commits ?? 0), 0);
  if (count === 0) {
    const words = `${formatPlural(incoming.length, 'workspace has', 'workspaces have')} something to pull`;
    return { count: incoming.length, isMore: false, words };
  }
  const isMore = incoming.some((look) => look.incoming?.isMore ?? true);
  const commits = isMore ? `${formatCount(count)}+ commits` : formatPlural(count, 'commit');
  return { count, isMore, words: `${commits} to pull` };
}

/** The changed files of all workspaces. Undefined if there are none. */
export function sumToPush(looks: readonly Pick<IncomingLook, 'outgoing'>[]): PendingSum | undefined {
  const count = looks.reduce((sum, { outgoing = 0 }) => sum + outgoing, 0);
  return count === 0 ? undefined : { count, isMore: false, words: `${formatPlural(count, 'file')} to push` };
}
