/**
 * `remote test`: checks that a remote behaves as Dray needs. Every key lies below a temporary prefix, which
 * is emptied afterwards, also after a failure and after Ctrl-C.
 */
import { randomUUID } from 'node:crypto';
import { type ErrorCode, toDrayError, toErrorRecord } from '../../api/error.ts';
import type { CheckEvent, JobEvent } from '../../api/events.ts';
import type { JobContext, RemoteTestRequest, RemoteTestSummary } from '../../api/jobs/jobs.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { openRemote } from '../../remotes/open-remote.ts';
import { formatRemoteUrl, type RemoteUrl, type S3Location } from '../../remotes/remote-url.ts';
import { TEST_PREFIX } from '../../repository/keys.ts';
import { knownPeersOf } from '../session/opened-remote.ts';
import { probeConditions, probeRaces } from './condition-probe.ts';
import { type CheckContext, REMOTE_CHECKS, type RemoteCheck } from './remote-checks.ts';

/** The caller, who knows the workspace, resolves names of remotes. */
export interface ResolvedRemoteTestRequest extends RemoteTestRequest {
  readonly url: RemoteUrl;
  readonly settings?: S3Location;
}

export type ProbeSummary = Omit<RemoteTestSummary, 'url'>;

export interface ProbeOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly emit: (event: JobEvent) => void;
}

/** The clean-up continues after an abort for at most this long. */
const CLEAN_UP_MAX_MS = 30_000;

/** Emits one `check` event for each check. Throws only when stopped; any other error is a failed check. */
export async function tryRemote(
  context: JobContext,
  request: ResolvedRemoteTestRequest,
): Promise<RemoteTestSummary> {
  const { connection, environment, signal, emit } = context;
  const url = formatRemoteUrl(request.url);
  let store: ObjectStore;
  try {
    // Some checks provoke refusals and pass because of them, so retry only briefly.
    const retry = { attemptsMax: 3, baseDelayMs: 50, maxDelayMs: 500 };
    const settings = request.settings ? { settings: request.settings } : {};
    const knownPeers = knownPeersOf(context);
    store = await openRemote(request.url, { connection, environment, knownPeers, retry, ...settings });
  } catch (error) {
    emit(failedCheck(firstCheckFor(error), error));
    return { url, ok: 0, failed: 1, warnings: 0, safeForTwoWriters: false, latencyMs: 0 };
  }
  try {
    return { url, ...(await probeRemote(store, { signal, clock: systemClock, emit })) };
  } finally {
    await store.close();
  }
}

/** Runs the checks of `remote test` on any store. The store stays open. */
export async function probeRemote(store: ObjectStore, options: ProbeOptions): Promise<ProbeSummary> {
  const counts = { ok: 0, failed: 0, warning: 0, notSupported: 0 };
  let latencyMs = 0;
  let safeForTwoWriters = false;
  let canWrite = false;
  const report = (event: CheckEvent): void => {
    counts[event.result] += 1;
    options.emit(event);
  };
  const runAll = async (prefix: string): Promise<void> => {
    const { signal, clock } = options;
    const onLatency = (measuredMs: number): void => {
      latencyMs = measuredMs;
    };
    for (const check of REMOTE_CHECKS) {
      const event = await runCheck(check, { store, prefix, signal, clock, onLatency });
      report(event);
      const isOk = event.result === 'ok';
      if (check.name === 'write') canWrite = isOk;
      if (check.name === 'conditional writes') safeForTwoWriters = isOk;
      if (check.isNeeded && !isOk) return;
    }
  };
  await belowThrowAwayPrefix(store, runAll, (prefix, error) => {
    // A remote that could not be reached or written to has none of our objects.
    if (!canWrite) return;
    const detail = `The clean-up failed and left objects below ${prefix}: ${toDrayError(error).message}`;
    report({ type: 'check', check: 'clean-up', result: 'failed', detail });
  });
  return { ok: counts.ok, failed: counts.failed, warnings: counts.warning, safeForTwoWriters, latencyMs };
}

/**
 * The short form for pushes, once for each remote: the store must refuse what its conditions exclude, and one
 * race of four writers must have one winner. 17 small requests.
 */
export async function conditionalWritesHold(store: ObjectStore, signal: AbortSignal): Promise<boolean> {
  return belowThrowAwayPrefix(store, async (prefix) => {
    const race = { prefix: `${prefix}race-`, writers: 4, rounds: 1 };
    const fault =
      (await probeConditions(store, `${prefix}condition`, signal)) ?? (await probeRaces(store, race, signal));
    return fault === undefined;
  });
}

async function runCheck(check: RemoteCheck, context: CheckContext): Promise<CheckEvent> {
  try {
    return { type: 'check', check: check.name, ...(await check.run(context)) };
  } catch (error) {
    const known = toDrayError(error);
    if (known.code === 'aborted') throw known;
    const name = check === REMOTE_CHECKS[0] ? firstCheckFor(known) : check.name;
    if (known.code !== 'unsupported' || !check.hasAlternative) return failedCheck(name, known);
    return { type: 'check', check: check.name, result: 'notSupported', detail: known.message };
  }
}

/** The check that failed: an unreachable store fails the endpoint, not the credentials. */
const BLAMED: Readonly<Partial<Record<ErrorCode, string>>> = {
  unreachable: 'endpoint',
  remoteFailed: 'endpoint',
  slowDown: 'endpoint',
  bucketMissing: 'place',
  clockSkew: 'clock',
};

function firstCheckFor(error: unknown): string {
  return BLAMED[toDrayError(error).code] ?? 'credentials';
}

function failedCheck(check: string, error: unknown): CheckEvent {
  const known = toDrayError(error);
  if (known.code === 'aborted') throw known;
  return { type: 'check', check, result: 'failed', detail: known.message, error: toErrorRecord(known) };
}

/**
 * Runs the work with a new prefix and removes everything that it wrote there, however it ended. Calls
 * `onLeftOver` when that fails; the result of the work stays the same.
 */
async function belowThrowAwayPrefix<T>(
  store: ObjectStore,
  work: (prefix: string) => Promise<T>,
  onLeftOver?: (prefix: string, error: unknown) => void,
): Promise<T> {
  const prefix = `${TEST_PREFIX}${randomUUID()}/`;
  try {
    return await work(prefix);
  } finally {
    await removeAll(store, prefix).catch((error: unknown) => onLeftOver?.(prefix, error));
  }
}

/** Uses its own signal: a stopped test cleans up as well. */
async function removeAll(store: ObjectStore, prefix: string): Promise<void> {
  const signal = AbortSignal.timeout(CLEAN_UP_MAX_MS);
  for (let isMore = true; isMore; ) {
    const page = await store.list({ prefix }, { signal });
    if (page.objects.length === 0) return;
    await store.delete(
      page.objects.map((object) => object.key),
      { signal },
    );
    isMore = page.continuation !== undefined;
  }
}
