/** The number of changes in each workspace at its last scan, in memory for all windows. */
import type { ChangeTotals } from '../api/jobs.ts';
import type { HostState } from './host-state.ts';

const OUTGOING = new WeakMap<HostState, Map<string, number>>();

export function noteOutgoing(host: HostState, root: string, changes: ChangeTotals): void {
  const { added, deleted, mode, modified, renamed } = changes;
  const counts = OUTGOING.get(host) ?? new Map<string, number>();
  OUTGOING.set(host, counts);
  counts.set(root, added + deleted + mode + modified + renamed);
}

export function outgoingOf(host: HostState, root: string): number | undefined {
  return OUTGOING.get(host)?.get(root);
}
