/**
 * Looks whether a folder still has the changes that a window shows, by a scan that keeps no list. One look at
 * a time for each folder, shared by all windows; the next one waits ten times as long as the last one took,
 * so a large folder that changes all the time costs a tenth of the time at most.
 */
import type { ChangeTotals } from '../../api/jobs.ts';
import type { HostState } from '../host-state.ts';
import { type HostCall, jobContextOf } from '../port/host-call.ts';
import { createDigest } from './row-digest.ts';

export interface FolderLook {
  readonly lookedMs: number;
  readonly totals: ChangeTotals;
  readonly failed: number;
  /** Of the rows that a list made now would have. */
  readonly digest: number;
}

interface Looking {
  readonly stopping: AbortController;
  readonly look: Promise<FolderLook>;
  /** Windows that wait for it. */
  waiting: number;
  /** Undefined while it looks. */
  restUntilMs?: number;
}

const REST_FACTOR = 10;
const HELD_MAX = 64;
const byHost = new WeakMap<HostState, Map<string, Looking>>();

export async function lookAtFolder(root: string, call: HostCall): Promise<FolderLook> {
  const { signal } = call;
  const looking = lookingOf(root, call);
  const leave = () => {
    looking.waiting -= 1;
    if (looking.waiting === 0) looking.stopping.abort();
  };
  looking.waiting += 1;
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await looking.look;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The look that is under way, or a new one. */
function lookingOf(root: string, call: HostCall): Looking {
  const { clock } = call.host;
  const lookings = lookingsOf(call.host);
  const before = lookings.get(root);
  if (before && before.restUntilMs === undefined && !before.stopping.signal.aborted) return before;
  const fromMs = Math.max(clock.nowMs(), before?.restUntilMs ?? 0);
  const stopping = new AbortController();
  const look = scan(root, call, fromMs, stopping.signal).finally(() => {
    looking.restUntilMs = clock.nowMs() + Math.max(0, clock.nowMs() - fromMs) * REST_FACTOR;
  });
  const looking: Looking = { stopping, look, waiting: 0 };
  lookings.delete(root);
  lookings.set(root, looking);
  const [oldest] = lookings.keys();
  if (lookings.size > HELD_MAX) lookings.delete(oldest!);
  return looking;
}

/** A push needs the workspace for itself. */
export function stopLook(root: string, host: HostState): void {
  lookingsOf(host).get(root)?.stopping.abort();
}

async function scan(root: string, call: HostCall, fromMs: number, signal: AbortSignal): Promise<FolderLook> {
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

function lookingsOf(host: HostState): Map<string, Looking> {
  const known = byHost.get(host);
  if (known) return known;
  const lookings = new Map<string, Looking>();
  byHost.set(host, lookings);
  return lookings;
}
