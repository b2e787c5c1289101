/** Lists the commits that changed a file or a folder. Each version can be shown and restored. */
import './history.css';
import { useEffect, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { DrayError } from '../../../engine/api/error.ts';
import type { CommitEvent } from '../../../engine/api/events.ts';
import { formatBytes, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { ChangeMark, changeWord } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { LeavingButton } from '../../design/controls/leaving-button.tsx';
import { formatAgo, formatMoment } from '../../design/format.ts';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Loading } from '../../design/states.tsx';
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

/** Another path or start begins another reading. */
export function PathHistoryDialog(props: PathHistoryDialogProps) {
  return <PathHistory key={JSON.stringify([props.root, props.path, props.from])} {...props} />;
}

function PathHistory({ root, path, from, onClose }: PathHistoryDialogProps) {
  const history = usePathHistory(root, path, from);
  const { commits, error, isRunning } = history;
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
          {isRunning && <Button onPress={history.stop}>Stop</Button>}
          <Button look="primary" onPress={onClose}>
            Close
          </Button>
        </>
      }
    >
      <div className="stack">
        {commits[0] && <LastChange commit={commits[0]} />}
        {isRunning && commits.length === 0 && <Loading label="Reading the commits" />}
        {error && <ErrorState title="Cannot read the history" error={error} onRetry={history.retry} />}
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
        <HistoryEnd {...history} />
      </div>
    </Dialog>
  );
}

/** How far it was read, and the button that reads on. */
function HistoryEnd({ commits, end, isRunning, readOn, walked }: PathHistoryState) {
  return (
    <div className="path-history-end">
      <p className="soft small" role="status">
        {endWords(commits.length, isRunning, end, walked)}
      </p>
      {readOn && (
        <LeavingButton size="small" isPending={isRunning} onPress={readOn}>
          Read on
        </LeavingButton>
      )}
    </div>
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
        <Button size="small" look="quiet" aria-label={`Preview it in ${subject}`} onPress={onLook}>
          Preview
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

/** How many older commits there are is not known before they are read. */
function endWords(count: number, isRunning: boolean, end: End | undefined, { time, walked }: Walked): string {
  if (end === 'whole') return `${formatPlural(count, 'commit')} changed it.`;
  const found = count === 0 ? 'No commit' : formatPlural(count, 'commit');
  const way =
    time === undefined ? '' : ` ${formatPlural(walked, 'commit')} read, back to ${formatMoment(time)}.`;
  if (isRunning) return walked === 0 ? '' : `${found} so far.${way} Reading older commits.`;
  return end === undefined ? '' : `${found} changed it so far.${way} There are older ones.`;
}

type End = 'whole' | 'more' | 'stopped';

interface Walked {
  /** Commits read. */
  readonly walked: number;
  /** The time of the oldest one. */
  readonly time?: string;
  /** Where to read on. */
  readonly next?: readonly string[] | undefined;
}

const NOT_WALKED: Walked = { walked: 0 };

interface PathHistoryState {
  readonly commits: readonly CommitEvent[];
  readonly walked: Walked;
  readonly end: End | undefined;
  readonly error: DrayError | undefined;
  readonly isRunning: boolean;
  readonly retry: () => void;
  readonly stop: () => void;
  /** Absent at first, at the end, and where no way on is known. */
  readonly readOn: (() => void) | undefined;
}

function usePathHistory(root: string, path: string, from: string | undefined): PathHistoryState {
  const host = useHost();
  const [commits, setCommits] = useState<readonly CommitEvent[]>([]);
  const [walked, setWalked] = useState(NOT_WALKED);
  const [end, setEnd] = useState<End>();
  const [error, setError] = useState<DrayError>();
  /** Where the present reading began. */
  const [start, setStart] = useState(NOT_WALKED);
  const [stopping, setStopping] = useState<AbortController>();
  useEffect(() => {
    const abort = new AbortController();
    let isGone = false;
    setStopping(abort);
    setEnd(undefined);
    setError(undefined);
    const place = start.next ? { after: start.next } : from === undefined ? {} : { from };
    const asked = host.ask(
      'history.ofPath',
      { root, path, limit: COMMITS_MAX, ...place },
      {
        signal: abort.signal,
        onEvents: (events) => {
          if (isGone) return;
          const more = events.filter((event) => event.type === 'commit');
          if (more.length > 0) setCommits((all) => withMore(all, more));
          const way = events.findLast((event) => event.type === 'walk');
          if (way) setWalked({ ...way, walked: start.walked + way.walked });
        },
      },
    );
    asked
      .then((answer) => {
        setWalked((last) => ({ ...last, walked: start.walked + answer.walked, next: answer.next }));
        setEnd(answer.next ? 'more' : 'whole');
      })
      .catch((cause: unknown) => {
        if (isGone) return;
        if (abort.signal.aborted) setEnd('stopped');
        else setError(cause instanceof DrayError ? cause : new DrayError('internal', String(cause)));
      });
    return () => {
      isGone = true;
      abort.abort();
    };
  }, [host, root, path, from, start]);
  const isRunning = end === undefined && error === undefined;
  const isFirst = start.next === undefined;
  // One that was stopped before it came anywhere begins again.
  const wayOn = walked.next ? walked : end === 'stopped' ? { ...start } : undefined;
  const hasWayOn = isRunning ? !isFirst : end !== 'whole' && wayOn !== undefined;
  return {
    commits,
    walked,
    end,
    error,
    isRunning,
    retry: () => setStart({ ...start }),
    stop: () => stopping?.abort(),
    readOn: hasWayOn && !error ? () => setStart(wayOn ?? walked) : undefined,
  };
}

/** The commit at which a reading was stopped may come again. */
function withMore(all: readonly CommitEvent[], more: readonly CommitEvent[]): readonly CommitEvent[] {
  const known = new Set(all.map(({ commit }) => commit));
  return [...all, ...more.filter(({ commit }) => !known.has(commit))];
}
