/**
 * Scans a folder again to find whether it still has the changes that a window shows. Keeps only a digest of
 * the rows. Windows share one scan for each folder, and the next one starts after ten times the duration of
 * the last one, so a large folder that changes constantly is scanned a tenth of the time at most.
 */
import type { ChangeTotals } from '../../api/jobs.ts';
import type { HostState } from '../host-state.ts';
import { type HostCall, jobContextOf } from '../port/host-call.ts';
import { createDigest } from './row-digest.ts';

export interface FolderScan {
  readonly lookedMs: number;
  readonly totals: ChangeTotals;
  readonly failed: number;
  /** The digest of the rows that a list created now would have. */
  readonly digest: number;
}

interface SharedScan {
  readonly stopping: AbortController;
  readonly result: Promise<FolderScan>;
  /** The number of windows that wait for the scan. */
  waiting: number;
  /** Undefined while the scan runs. */
  restUntilMs?: number;
}

const REST_FACTOR = 10;
const HELD_MAX = 64;
const byHost = new WeakMap<HostState, Map<string, SharedScan>>();

export async function scanFolder(root: string, call: HostCall): Promise<FolderScan> {
  const { signal } = call;
  const shared = scanOf(root, call);
  const leave = () => {
    shared.waiting -= 1;
    if (shared.waiting === 0) shared.stopping.abort();
  };
  shared.waiting += 1;
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await shared.result;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The running scan, or a new one. */
function scanOf(root: string, call: HostCall): SharedScan {
  const { clock } = call.host;
  const scans = scansOf(call.host);
  const before = scans.get(root);
  if (before && before.restUntilMs === undefined && !before.stopping.signal.aborted) return before;
  const fromMs = Math.max(clock.nowMs(), before?.restUntilMs ?? 0);
  const stopping = new AbortController();
  const result = scan(root, call, fromMs, stopping.signal).finally(() => {
    shared.restUntilMs = clock.nowMs() + Math.max(0, clock.nowMs() - fromMs) * REST_FACTOR;
  });
  const shared: SharedScan = { stopping, result, waiting: 0 };
  scans.delete(root);
  scans.set(root, shared);
  const [oldest] = scans.keys();
  if (scans.size > HELD_MAX) scans.delete(oldest!);
  return shared;
}

/** Called before a push or a discard, which lock the workspace. */
export function stopScan(root: string, host: HostState): void {
  scansOf(host).get(root)?.stopping.abort();
}

async function scan(root: string, call: HostCall, fromMs: number, signal: AbortSignal): Promise<FolderScan> {
  const { clock } = call.host;
  await clock.sleep(Math.max(0, fromMs - clock.nowMs()), signal);
  const { status } = await import('../../jobs/working-copy/status.ts');
  const digest = createDigest();
  const lookedMs = clock.nowMs();
  const context = jobContextOf({ ...call, signal }, root);
  const { changes, failed } = await status(
    {
      ...context,
      emit: (event) => {
        if (event.type === 'change') digest.add(event);
      },
    },
    {},
  );
  return { lookedMs, totals: changes, failed, digest: digest.read() };
}

function scansOf(host: HostState): Map<string, SharedScan> {
  const known = byHost.get(host);
  if (known) return known;
  const scans = new Map<string, SharedScan>();
  byHost.set(host, scans);
  return scans;
}
