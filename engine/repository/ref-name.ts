/** The valid names of branches and tags: git's rules (git-check-ref-format), so that names work in both. */
import { DrayError, quotedExcerpt } from '../api/error.ts';

const REF_NAME_MAX = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const FORBIDDEN = /[\x00-\x20\x7f~^:?*[\\]/;

/** @param name Without `heads/` or `tags/`. @throws `usage` with the reason. */
export function checkRefName(name: string): void {
  const reason = refNameReason(name);
  if (reason === undefined) return;
  throw new DrayError('usage', `${quotedExcerpt(name)} cannot name a branch or a tag: ${reason}.`, {
    data: { name },
  });
}

/** Why this cannot name a branch or tag; undefined when it can. */
export function refNameReason(name: string): string | undefined {
  if (name.length === 0) return 'it is empty';
  if (name.length > REF_NAME_MAX) return `it is longer than ${REF_NAME_MAX} characters`;
  if (!name.isWellFormed()) return 'it is not valid Unicode';
  if (FORBIDDEN.test(name)) return 'it has a space, a control character or one of ~ ^ : ? * [ \\';
  if (name.startsWith('-')) return 'it begins with "-"';
  if (name === '@' || name.includes('@{')) return 'it is "@" or has "@{"';
  if (/^[0-9a-f]{64}$/.test(name)) return 'it looks like a commit';
  for (const part of name.split('/')) {
    if (part.length === 0) return 'it begins or ends with "/" or has "//"';
    if (part.startsWith('.') || part.endsWith('.') || part.includes('..')) {
      return 'a part of it begins or ends with "." or has ".."';
    }
    if (part.endsWith('.lock')) return 'a part of it ends with ".lock"';
  }
  return undefined;
}
