/**
 * The result of the workspace's newest push or pull. A user who started it here stays on this screen and sees
 * it.
 */

import type { ReactNode } from 'react';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { PullSummary, PushSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { LinkButton } from '../../design/controls/button.tsx';
import { Notice, type NoticeTone } from '../../design/states.tsx';
import { FailureText } from '../../failures/failure.tsx';
import { Remedy } from '../../failures/remedy.tsx';
import { useDo, useTransfers } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';

const PATHS_NAMED = 3;

export interface TransferNoticeProps {
  readonly root: string;
  /** The transfer that this screen started. Success is shown only for that one. */
  readonly begunHere: string | undefined;
}

export function TransferNotice({ root, begunHere }: TransferNoticeProps) {
  const newest = useNewestTransfer(root);
  const said = newest && describe(newest, newest.id === begunHere);
  const retry = useDo('transfers.change');
  return (
    // Always in the page, so that a screen reader announces its content.
    <div role="status">
      {said && (
        <div className="changes-notice">
          <Notice
            tone={said.tone}
            actions={
              <>
                {newest.state === 'failed' && newest.error && (
                  <Remedy
                    size="small"
                    error={newest.error}
                    onMended={() => retry.mutate({ ids: [newest.id], action: 'retry' })}
                  />
                )}
                <LinkButton size="small" href={said.href}>
                  {said.action}
                </LinkButton>
              </>
            }
          >
            {said.text}
          </Notice>
        </div>
      )}
    </div>
  );
}

/** A push or a pull of the workspace. */
export function useNewestTransfer(root: string): Transfer | undefined {
  return useTransfers()?.findLast(
    ({ order }) => (order.kind === 'push' || order.kind === 'pull') && order.root === root,
  );
}

interface Said {
  readonly tone: NoticeTone;
  readonly text: ReactNode;
  readonly action: string;
  readonly href: string;
}

const PULL = hrefOf('changes', { direction: 'pull' });
const WATCH = { action: 'Watch', href: hrefOf('transfers') };
const LOOK = { action: 'Transfers', href: hrefOf('transfers') };

function describe(transfer: Transfer, isOurs: boolean): Said | undefined {
  const word = transfer.order.kind === 'push' ? 'push' : 'pull';
  switch (transfer.state) {
    case 'waiting':
    case 'running':
      return {
        tone: 'info',
        text: `A ${word} is ${transfer.state === 'waiting' ? 'waiting' : 'running'}. This list is refreshed when it ends.`,
        ...WATCH,
      };
    case 'paused':
      return {
        tone: 'warning',
        text: `A ${word} is paused. It resumes where it stopped.`,
        action: 'Resume it',
        href: WATCH.href,
      };
    case 'failed':
      return describeFailed(transfer, word);
    case 'cancelled':
      return undefined;
    case 'done':
      return describeDone(transfer, isOurs);
  }
}

function describeFailed({ error }: Transfer, word: string): Said {
  if (error?.code === 'conflict' && Array.isArray(error.data.paths))
    return {
      tone: 'danger',
      text: (
        <>
          <strong>The {word} failed:</strong> the remote's {String(error.data.branch ?? error.data.ref)} has
          moved, and both sides changed {namePaths(error.data.paths, Number(error.data.count))}. Nothing was
          changed on either side.
        </>
      ),
      action: 'Choose sides',
      href: PULL,
    };
  return {
    tone: 'danger',
    text: (
      <>
        <strong>The last {word} failed.</strong> {error && <FailureText error={error} />}
      </>
    ),
    ...LOOK,
  };
}

function describeDone({ order, summary }: Transfer, isOurs: boolean): Said | undefined {
  if (!summary || !('changes' in summary)) return undefined;
  if (order.kind === 'push') return describePushed(summary as PushSummary, isOurs);
  if (!isOurs) return undefined;
  const { arriving, changes, downloadedBytes } = summary as PullSummary;
  const count = changes.added + changes.modified + changes.deleted + changes.renamed + changes.mode;
  if (arriving)
    return {
      tone: 'danger',
      text: `Pulled ${formatPlural(count, 'change')}; ${formatCount(arriving.missing)} could not be brought. Pull again for the rest.`,
      ...LOOK,
    };
  return {
    tone: 'success',
    text: `Pulled ${formatPlural(count, 'change')}, ${formatBytes(downloadedBytes)} fetched.`,
    ...LOOK,
  };
}

function describePushed(
  { commit, mergedWith, uploadedBytes }: PushSummary,
  isOurs: boolean,
): Said | undefined {
  if (!isOurs || commit === null) return undefined;
  if (mergedWith !== undefined)
    return {
      tone: 'info',
      text: (
        <>
          <strong>Pushed, and merged:</strong> someone else pushed in the meantime. The remote has both; their
          changes are not in this folder yet.
        </>
      ),
      action: 'See what they changed',
      href: PULL,
    };
  return {
    tone: 'success',
    text: (
      <>
        Pushed as commit <span className="code">{formatHash(commit)}</span>, {formatBytes(uploadedBytes)}{' '}
        sent.
      </>
    ),
    action: 'History',
    href: hrefOf('history'),
  };
}

function namePaths(paths: readonly unknown[], count: number): string {
  const named = paths.slice(0, PATHS_NAMED).join(', ');
  return count > PATHS_NAMED ? `${named} and ${formatCount(count - PATHS_NAMED)} more` : named;
}
