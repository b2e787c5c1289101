/** What is shown of a commit. */
import type { CommitEvent } from '../../../engine/api/events.ts';

export function subjectOf({ message }: Pick<CommitEvent, 'message'>): string {
  return message.split('\n', 1)[0]?.trim() || 'No message';
}

/** What follows the first line. */
export function bodyOf({ message }: Pick<CommitEvent, 'message'>): string {
  const end = message.indexOf('\n');
  return end === -1 ? '' : message.slice(end).trim();
}

/** `Ada Okafor <ada@example.org>` without its address. */
export function authorName(author: string): string {
  return author.replace(/\s*<[^>]*>\s*$/, '') || author;
}
