/** The number of changes in each workspace at its last scan, in memory for all windows. */
import type { ChangeTotals } from '../api/jobs/jobs.ts';
import type { HostState } from './host-state.ts';

interface Noted {
  readonly count: number;
  /** The base of the scan. A push or pull changes it, and makes the count stale. */
  readonly base: string | undefined;
}

const OUTGOING = new WeakMap<HostState, Map<string, Noted>>();

export function noteOutgoing(
  host: HostState,
  root: string,
  scanned: { readonly changes: ChangeTotals; readonly commit: string | null },
): void {
  const { added, deleted, mode, modified, renamed } = scanned.changes;
  const noted = OUTGOING.get(host) ?? new Map<string, Noted>();
  OUTGOING.set(host, noted);
  noted.set(root, { count: added + deleted + mode + modified + renamed, base: scanned.commit ?? undefined });
}

export function outgoingOf(host: HostState, root: string, base: string | undefined): number | undefined {
  const noted = OUTGOING.get(host)?.get(root);
  return noted?.base === base ? noted?.count : undefined;
}
