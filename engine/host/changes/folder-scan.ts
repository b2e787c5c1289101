/**
 * Scans a folder again to find whether it still has the changes that a window shows. Keeps only a digest of
 * the rows. Windows share one scan for each folder. The next one starts after ten times the duration of the
 * last one, or a minute. So a large folder that changes constantly is not scanned all the time.
 */
import type { ChangeTotals } from '../../api/jobs/jobs.ts';
import type { HostState } from '../host-state.ts';
import { type HostCall, jobContextOf } from '../port/host-call.ts';
import { eventsOf } from './folder-watches.ts';
import { createDigest } from './row-digest.ts';

export interface FolderScan {
  readonly lookedMs: number;
  /** The base. Null before the first push. */
  readonly commit: string | null;
  readonly totals: ChangeTotals;
  readonly failed: number;
  /** The digest of the rows that a list created now would have. */
  readonly digest: number;
}

interface SharedScan {
  readonly stopping: AbortController;
  readonly result: Promise<FolderScan>;
  /** The events of the folder when the scan began. It may have missed a later one. */
  eventsBefore?: number;
  /** The number of windows that wait for the scan. */
  waiting: number;
  /** Undefined while the scan runs. */
  restUntilMs?: number;
}

const REST_FACTOR = 10;
/** On a busy machine a scan may wait longer than it works. */
const REST_MAX_MS = 60_000;
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

/** The running scan, if the folder has had no event since, or a new one. */
function scanOf(root: string, call: HostCall): SharedScan {
  const { clock } = call.host;
  const scans = scansOf(call.host);
  const before = scans.get(root);
  const isUnended = before && before.restUntilMs === undefined && !before.stopping.signal.aborted;
  if (isUnended && (before.eventsBefore ?? eventsOf(root, call.host)) === eventsOf(root, call.host))
    return before;
  const fromMs = Math.max(clock.nowMs(), before?.restUntilMs ?? 0);
  const stopping = new AbortController();
  const onBegin = () => {
    shared.eventsBefore = eventsOf(root, call.host);
  };
  const result = scan(root, call, { fromMs, onBegin, signal: stopping.signal }).finally(() => {
    const restMs = Math.min(Math.max(0, clock.nowMs() - fromMs) * REST_FACTOR, REST_MAX_MS);
    shared.restUntilMs = clock.nowMs() + restMs;
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

interface ScanOptions {
  readonly fromMs: number;
  readonly onBegin: () => void;
  readonly signal: AbortSignal;
}

async function scan(
  root: string,
  call: HostCall,
  { fromMs, onBegin, signal }: ScanOptions,
): Promise<FolderScan> {
  const { clock } = call.host;
  await clock.sleep(Math.max(0, fromMs - clock.nowMs()), signal);
  const { status } = await import('../../jobs/working-copy/status.ts');
  const digest = createDigest();
  onBegin();
  const lookedMs = clock.nowMs();
  const context = jobContextOf({ ...call, signal }, root);
  const { changes, commit, failed } = await status(
    {
      ...context,
      emit: (event) => {
        if (event.type === 'change') digest.add(event);
      },
    },
    {},
  );
  return { lookedMs, commit, totals: changes, failed, digest: digest.read() };
}

function scansOf(host: HostState): Map<string, SharedScan> {
  const known = byHost.get(host);
  if (known) return known;
  const scans = new Map<string, SharedScan>();
  byHost.set(host, scans);
  return scans;
}
