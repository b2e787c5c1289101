/**
 * The question before a restore: what it would write, and which changes that were never pushed it replaces.
 */

import type { RestorePlan } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { versionName } from '../refs/ref-task.ts';
import { useStartTransfers } from '../start-transfer.ts';
import { useForgottenNews } from './use-forgotten-news.ts';

const NAMED_MAX = 8;

/** An entry of a commit. */
export interface FileAt {
  readonly commit: string;
  /** A folder's path ends in a slash; `.` is the whole version. */
  readonly path: string;
}

export interface RestoreDialogProps {
  readonly root: string;
  readonly file: FileAt;
  /** Further paths of the commit. */
  readonly more?: readonly string[];
  readonly onClose: () => void;
}

export function RestoreDialog({ root, file, more = [], onClose }: RestoreDialogProps) {
  const { commit, path } = file;
  const paths = [path, ...more];
  const isWhole = path === '.';
  const what = more.length === 0 ? path : formatPlural(paths.length, 'entry', 'entries');
  const plan = useAsk('history.planRestore', { root, commit, paths });
  useForgottenNews(plan.error);
  const start = useStartTransfers();
  // An earlier answer is void: the folder may have changed since.
  const found = plan.isFetching ? undefined : plan.data;
  const restore = (keepsChanges: boolean): void => {
    const order = { kind: 'restore', root, paths, from: commit, keepsChanges } as const;
    void start(isWhole ? `Restoring ${versionName(commit)}` : `Restoring ${what}`, [order]);
    onClose();
  };
  return (
    <Dialog
      title={isWhole ? wholeTitle(commit) : `Restore ${what}`}
      isOpen
      onClose={onClose}
      size="small"
      actions={
        <>
          <Button onPress={onClose}>{found?.files === 0 ? 'Close' : 'Cancel'}</Button>
          {found?.files !== 0 && (
            <Button
              look={found && found.changed > 0 ? 'danger' : 'primary'}
              isDisabled={!found}
              onPress={() => restore(found?.changed === 0)}
            >
              {found && found.changed > 0 ? 'Replace and restore' : 'Restore'}
            </Button>
          )}
        </>
      }
    >
      <AnswerState
        of={plan}
        label="Comparing with your folder without changing anything"
        title="Cannot compare it with your folder"
        isAnew
      />
      {found && <PlanWords plan={found} file={file} isMany={more.length > 0} />}
    </Dialog>
  );
}

function wholeTitle(commit: string): string {
  return commit === '@'
    ? 'Restore the last version of this folder'
    : `Restore version ${versionName(commit)}`;
}

interface PlanWordsProps {
  readonly plan: RestorePlan;
  readonly file: FileAt;
  /** The file is one of several. */
  readonly isMany: boolean;
}

function PlanWords({ plan, file, isMany }: PlanWordsProps) {
  const { commit, path } = file;
  const { bytes, changed, changedPaths, files } = plan;
  if (files === 0) return <p>Nothing to restore: your folder has the same files as {versionName(commit)}.</p>;
  const isFolder = isMany || path === '.' || path.endsWith('/');
  return (
    <div className="stack">
      <p>
        {isFolder
          ? `${formatPlural(files, 'file')} (${formatBytes(bytes)}) ${files === 1 ? 'comes' : 'come'} back`
          : `It comes back (${formatBytes(bytes)})`}{' '}
        as in <span className="code">{versionName(commit)}</span>
        {isFolder ? '. Files that only your folder has stay.' : '.'}
      </p>
      {changed > 0 && (
        <Notice tone="danger">
          <p>
            {isFolder
              ? `${formatPlural(changed, 'file')} changed here since the last push and will be replaced:`
              : 'The file in your folder changed since the last push and will be replaced.'}
          </p>
          {isFolder && (
            <ul>
              {changedPaths.slice(0, NAMED_MAX).map((one) => (
                <li key={one} className="cut">
                  {one}
                </li>
              ))}
              {changed > NAMED_MAX && <li>and {formatCount(changed - NAMED_MAX)} more</li>}
            </ul>
          )}
          <p>What is replaced is kept for 30 days: see Kept files in Changes.</p>
        </Notice>
      )}
    </div>
  );
}
