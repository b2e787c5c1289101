/**
 * The newest commit that was seen to lead to the workspace's base. Commits never change, so it is known for
 * good: a search from a later commit ends there. It is a cache, of one pair of commits.
 */
import type { CommitHash } from '../../../model/entry.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { leadsTo, type Search } from '../../../repository/leads-to.ts';
import { fetchLinks } from '../fetch-links.ts';
import type { Session } from '../open-workspace.ts';

/** Undefined if none is known but the base itself. */
export function knownToLeadTo({ index }: Pick<Session, 'index'>, base: CommitHash): CommitHash | undefined {
  const [to, from] = index.settings.knownHistory?.split(' ') ?? [];
  return to === base ? (from as CommitHash | undefined) : undefined;
}

export function rememberLeadingTo(
  { index }: Pick<Session, 'index'>,
  base: CommitHash,
  tip: CommitHash,
): void {
  index.settings.knownHistory = `${base} ${tip}`;
}

/** As `leadsTo`. No request if it is known. */
export async function isBelow(
  session: Session,
  store: ObjectStore,
  { base, own, tip }: Pick<Search, 'own'> & Partial<Pick<Search, 'base'>> & { readonly tip: CommitHash },
): Promise<boolean> {
  if (knownToLeadTo(session, own) === tip) return true;
  return await leadsTo({ base, own, tip, read: (hash) => fetchLinks(session, store, hash) });
}
