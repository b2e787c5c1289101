/** The words that describe commits. */
import type { CommitEvent } from '../../../engine/api/events.ts';

export function subjectOf({ message }: Pick<CommitEvent, 'message'>): string {
  return message.split('\n', 1)[0]?.trim() || 'No message';
}

/** The message after its first line. */
export function bodyOf({ message }: Pick<CommitEvent, 'message'>): string {
  const end = message.indexOf('\n');
  return end === -1 ? '' : message.slice(end).trim();
}

/** `Ada Okafor <ada@example.org>` without its address. */
export function authorName(author: string): string {
  const text = author.trimEnd();
  if (!text.endsWith('>')) return author;
  // Parsed by hand, because anybody may be a commit's author and a pattern would take quadratic time.
  const start = text.indexOf('<', text.lastIndexOf('>', text.length - 2) + 1);
  return (start === -1 ? '' : text.slice(0, start).trimEnd()) || author;
}

/**
 * The selected commits: the chosen ones that the list still has, else the newest, so that the panel is never
 * empty.
 */
export function openCommits(
  commits: readonly Pick<CommitEvent, 'commit'>[],
  chosen: readonly string[],
): string[] {
  const there = commits.map(({ commit }) => commit);
  const open = there.filter((commit) => chosen.includes(commit));
  return open.length > 0 ? open : there.slice(0, 1);
}
