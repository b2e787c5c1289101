/** Shows the time of the last scan, whether the folder is watched, and the changes since the scan. */
import { formatCount } from '../../../engine/api/text/numbers.ts';
import { LeavingButton } from '../../design/controls/leaving-button.tsx';
import { formatClock } from '../../design/format.ts';
import { Notice } from '../../design/states.tsx';
import type { ScanStatus } from './use-scan-status.ts';

const UNWATCHED: Readonly<Record<NonNullable<ScanStatus['unwatched']>, string>> = {
  starting: 'not watched yet: Dray scans again once it is',
  tooMany: 'not watched: it has more folders than Dray watches. Dray scans it when you come back',
  limit: 'not watched: the system gives no more watches. Dray scans it when you come back',
  failed: 'not watched: it cannot be. Dray scans it when you come back',
};

export function ScanStatusText({ lookedMs, unwatched }: ScanStatus) {
  return (
    <span className="cut soft" title={unwatched && `The folder is ${UNWATCHED[unwatched]}.`}>
      Scanned at {formatClock(lookedMs)}, {unwatched ? 'not watched' : 'watching'}
      {unwatched && <span className="unseen">: {UNWATCHED[unwatched]}</span>}
    </span>
  );
}

export function FolderNewsBar({
  newRows,
  rows,
  onShow,
}: {
  readonly newRows: number | undefined;
  readonly rows: number;
  readonly onShow: () => void;
}) {
  return (
    // Always in the page, so that a screen reader announces its content.
    <div role="status">
      {newRows !== undefined && (
        <div className="changes-notice">
          <Notice
            tone="info"
            actions={
              <LeavingButton size="small" leadsTo={'.change-table [role$="grid"]'} onPress={onShow}>
                Show
              </LeavingButton>
            }
          >
            The folder has changed: {describeNews(newRows - rows)}. Your choices stay.
          </Notice>
        </div>
      )}
    </div>
  );
}

function describeNews(difference: number): string {
  if (difference === 0) return 'other changes than these';
  const count = formatCount(Math.abs(difference));
  return `${count} ${difference > 0 ? 'more' : 'fewer'} ${Math.abs(difference) === 1 ? 'change' : 'changes'}`;
}
