/**
 * `dray scope`: which part of the dataset the workspace holds. engine/jobs/README.md says in which order
 * files and `.dray/state.json` change, so that a kill at any step loses nothing.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { ScopeRequest, ScopeSummary } from '../../api/jobs/scope.ts';
import { shellWord } from '../../base/shell-word.ts';
import { hasUnconfirmedPush, settleLastPush } from '../push/unconfirmed-push.ts';
import { hasBaseRows } from '../session/base/base-commit.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { addTotals } from '../session/traffic.ts';
import { forgetCutRuns } from '../working-copy/interrupted-writes.ts';
import { refreshIndex } from '../working-copy/refresh-index.ts';
import { narrowScope } from './narrow-scope.ts';
import { checkChange, type Only, reachesBeyond, type ScopeRun, union } from './scope-run.ts';
import { widenScope } from './widen-scope.ts';

const NOTHING_DONE = { fetched: 0, downloadedBytes: 0, removed: 0, freedBytes: 0, failed: 0 };

export async function scope(context: JobContext, request: ScopeRequest): Promise<ScopeSummary> {
  const isList = request.action === 'list';
  using session = await openSession(context, 'scope', isList ? 'snapshot' : 'exclusive');
  if (isList) return await ended(session, { done: NOTHING_DONE, remote: undefined });
  const only = nextOnly(session, request);
  checkChange(session, only);
  const { scope: held } = session.state;
  const isInDoubt = !hasBaseRows(session) || hasUnconfirmedPush(session);
  const needsRemote = held?.leaving !== undefined || reachesBeyond(only, held?.only) || isInDoubt;
  await using remote = needsRemote ? await openSessionRemote(session) : undefined;
  if (remote) await settleLastPush(session, remote.store);
  const chosen = request.action === 'only' && only ? { chosen: only } : {};
  const run: ScopeRun = { session, remote, words: wordsOf(request), ...chosen, done: NOTHING_DONE };
  await changeScope(run, only);
  return await ended(session, run);
}

async function changeScope(run: ScopeRun, only: Only): Promise<void> {
  const { session } = run;
  // A run that was killed may have left files of what it dropped.
  const { leaving, only: left } = session.state.scope ?? {};
  if (left && leaving && !(await narrowScope(run, left))) return;
  const held = session.state.scope?.only;
  if (reachesBeyond(only, held) && !(await widenScope(run, only && held && union(held, only)))) return;
  if (only && reachesBeyond(session.state.scope?.only, only) && !(await narrowScope(run, only))) return;
  forgetCutRuns(session, { ofScope: true });
}

async function ended(session: Session, { done, remote }: Pick<ScopeRun, 'done' | 'remote'>) {
  const only = session.state.scope?.only ?? null;
  const outside = only ? (await refreshIndex(session)).outside : { count: 0, paths: [] };
  const requests = addTotals(remote ? [remote.meter] : []);
  return { workspace: session.workspace.root, only, ...done, outside, requests };
}

/** @throws `usage` */
function nextOnly({ state }: Session, request: Exclude<ScopeRequest, { action: 'list' }>): Only {
  if (request.action === 'clear') return undefined;
  const { scope: held } = state;
  const { action, patterns } = request as Exclude<typeof request, { action: 'clear' | 'list' }>;
  if (action === 'only') return union([], patterns);
  if (!held)
    throw new DrayError('usage', 'This workspace holds everything.', {
      data: { reason: 'noScope' },
      advice: 'Choose what it keeps with "dray scope only PATTERN".',
    });
  if (action === 'add') return union(held.only, patterns);
  const known = new Set([...held.only, ...(held.leaving ?? [])].map(spelled));
  const unknown = patterns.find((pattern) => !known.has(spelled(pattern)));
  if (unknown !== undefined)
    throw new DrayError('usage', `"${unknown}" is not in the scope of this workspace.`, {
      data: { pattern: unknown, only: held.only, reason: 'notInScope' },
      advice: `It holds: ${held.only.join(', ')}.`,
    });
  const dropped = new Set(patterns.map(spelled));
  const only = held.only.filter((pattern) => !dropped.has(spelled(pattern)));
  if (only.length > 0) return only;
  throw new DrayError('usage', 'That would leave nothing in this workspace.', {
    data: { reason: 'nothingLeft' },
    advice: 'Choose something else with "dray scope only PATTERN", or everything with "dray scope clear".',
  });
}

/** `./train`, `train` and `train/` are one pattern to a person who drops it. */
function spelled(pattern: string): string {
  return pattern.replace(/^\.\//, '').replace(/\/$/, '');
}

/** The command line to type again. */
function wordsOf(request: Exclude<ScopeRequest, { action: 'list' }>): string {
  const patterns = 'patterns' in request ? request.patterns : [];
  return ['scope', request.action, ...patterns].map(shellWord).join(' ');
}
