/** Lists the commits that changed a file or a folder. Each version can be shown and restored. */
import { useEffect, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { DrayError } from '../../../engine/api/error.ts';
import type { CommitEvent } from '../../../engine/api/events.ts';
import { formatBytes, formatHash, formatPlural } from '../../../engine/api/numbers.ts';
import { ChangeMark, changeWord } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { formatAgo, formatMoment } from '../../design/format.ts';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Loading, Notice } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { useHost } from '../../host/use-host.tsx';
import { authorName, subjectOf } from './commit-words.ts';
import { FileDialog, type FileDialogProps } from './file-dialog.tsx';
import { type FileAt, RestoreDialog } from './restore-dialog.tsx';

const COMMITS_MAX = 500;

export interface PathHistoryDialogProps {
  readonly root: string;
  /** A folder's path ends in a slash. */
  readonly path: string;
  /** A commit, branch or tag to start at; default: the current branch. */
  readonly from?: string | undefined;
  readonly onClose: () => void;
}

export function PathHistoryDialog({ root, path, from, onClose }: PathHistoryDialogProps) {
  const { commits, end, error, isRunning, retry, stop } = usePathHistory(root, path, from);
  const [looking, setLooking] = useState<Pick<FileDialogProps, 'before' | 'after'>>();
  const [restoring, setRestoring] = useState<FileAt>();
  if (restoring)
    return <RestoreDialog root={root} file={restoring} onClose={() => setRestoring(undefined)} />;
  if (looking) return <FileDialog root={root} {...looking} onClose={() => setLooking(undefined)} />;
  const isFolder = path.endsWith('/');
  const look = (index: number): void => {
    const commit = commits[index]!;
    const older = commits[index + 1];
    const isThere = commit.change !== 'deleted';
    setLooking({
      ...(isThere ? { after: { path, commit: commit.commit } } : {}),
      ...(older && commit.change !== 'added' ? { before: { path, commit: older.commit } } : {}),
    });
  };
  return (
    <Dialog
      title={`History of ${path}`}
      isOpen
      size="large"
      onClose={onClose}
      actions={
        <>
          {isRunning && <Button onPress={stop}>Stop</Button>}
          <Button look="primary" onPress={onClose}>
            Close
          </Button>
        </>
      }
    >
      <div className="stack">
        {commits[0] && <LastChange commit={commits[0]} />}
        {isRunning && commits.length === 0 && <Loading label="Reading the commits" />}
        {error && <ErrorState title="Cannot read the history" error={error} onRetry={retry} />}
        {commits.length > 0 && (
          <GridList className="path-history" aria-label={`Commits that changed ${path}`}>
            {commits.map((commit, index) => (
              <PathHistoryItem
                key={commit.commit}
                commit={commit}
                onLook={isFolder ? undefined : () => look(index)}
                onRestore={
                  commit.change === 'deleted'
                    ? undefined
                    : () => setRestoring({ path, commit: commit.commit })
                }
              />
            ))}
          </GridList>
        )}
        <p className="soft small" role="status">
          {endWords(commits.length, isRunning, end)}
        </p>
        {end === 'more' && (
          <Notice>Dray did not read older commits. History can start at any branch, tag or commit.</Notice>
        )}
      </div>
    </Dialog>
  );
}

function LastChange({ commit }: { readonly commit: CommitEvent }) {
  return (
    <p>
      Last changed by <strong>{authorName(commit.author)}</strong>{' '}
      <time dateTime={commit.time} title={formatMoment(commit.time)}>
        {formatAgo(commit.time)}
      </time>
      .
    </p>
  );
}

function PathHistoryItem({
  commit,
  onLook,
  onRestore,
}: {
  readonly commit: CommitEvent;
  readonly onLook: (() => void) | undefined;
  readonly onRestore: (() => void) | undefined;
}) {
  const { author, change = 'modified', sizeBytes, time } = commit;
  const subject = subjectOf(commit);
  return (
    <GridListItem
      id={commit.commit}
      className="compare-item path-history-item"
      textValue={`${changeWord(change)} in ${subject}`}
    >
      <ChangeMark change={change} />
      <span className="cut grow">{subject}</span>
      <span className="small faint cut">{authorName(author)}</span>
      <time className="small faint" dateTime={time} title={formatMoment(time)}>
        {formatAgo(time)}
      </time>
      <span className="small faint">{sizeBytes === undefined ? '' : formatBytes(sizeBytes)}</span>
      <span className="code small faint">{formatHash(commit.commit)}</span>
      {onLook && (
        <Button size="small" look="quiet" aria-label={`Look at it in ${subject}`} onPress={onLook}>
          Look
        </Button>
      )}
      {onRestore && (
        <Button
          size="small"
          look="quiet"
          icon="history"
          aria-label={`Restore it from ${subject}`}
          onPress={onRestore}
        >
          Restore
        </Button>
      )}
    </GridListItem>
  );
}

function endWords(count: number, isRunning: boolean, end: End | undefined): string {
  if (isRunning) return count === 0 ? '' : `${formatPlural(count, 'commit')} so far. Reading older commits.`;
  if (end === 'stopped') return `Stopped after ${formatPlural(count, 'commit')}.`;
  return end === undefined ? '' : `${formatPlural(count, 'commit')} changed it.`;
}

type End = 'whole' | 'more' | 'stopped';

function usePathHistory(root: string, path: string, from: string | undefined) {
  const host = useHost();
  const [commits, setCommits] = useState<readonly CommitEvent[]>([]);
  const [end, setEnd] = useState<End>();
  const [error, setError] = useState<DrayError>();
  const [attempt, setAttempt] = useState(0);
  const [stopping, setStopping] = useState<AbortController>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads again
  useEffect(() => {
    const abort = new AbortController();
    let isGone = false;
    setStopping(abort);
    setCommits([]);
    setEnd(undefined);
    setError(undefined);
    const input = { root, path, limit: COMMITS_MAX, ...(from === undefined ? {} : { from }) };
    host
      .ask('history.ofPath', input, {
        signal: abort.signal,
        onEvents: (events) => {
          const more = events.filter((event) => event.type === 'commit');
          if (more.length > 0 && !isGone) setCommits((all) => [...all, ...more]);
        },
      })
      .then(({ isMore }) => setEnd(isMore ? 'more' : 'whole'))
      .catch((cause: unknown) => {
        if (isGone) return;
        if (abort.signal.aborted) setEnd('stopped');
        else setError(cause instanceof DrayError ? cause : new DrayError('internal', String(cause)));
      });
    return () => {
      isGone = true;
      abort.abort();
    };
  }, [host, root, path, from, attempt]);
  const isRunning = end === undefined && error === undefined;
  return {
    commits,
    end,
    error,
    isRunning,
    retry: () => setAttempt(attempt + 1),
    stop: () => stopping?.abort(),
  };
}
