/** Lists the bin of a workspace, with local files that were overwritten or discarded, and restores them. */
import './kept-dialog.css';
import { useRef } from 'react';
import type { KeptRun } from '../../../engine/api/jobs/kept-files.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { formatMoment } from '../../design/format.ts';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { EmptyState, Loading } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { usePutBack } from '../../shell/use-put-back.ts';

const PATHS_SHOWN = 5;

export function KeptDialog({ root, onClose }: { readonly root: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useAsk('kept.list', { root });
  const body = useRef<HTMLDivElement>(null);
  return (
    <Dialog title="Kept files" isOpen onClose={onClose}>
      <div ref={body} tabIndex={-1} className="kept-body">
        {error ? (
          <ErrorState title="Cannot read the kept files" error={error} onRetry={refetch} />
        ) : !data ? (
          <Loading label="Reading the kept files" />
        ) : data.runs.length === 0 ? (
          <EmptyState icon="check" title="Nothing was overwritten">
            When a pull or a restore overwrites a local file that no commit has, or you discard one, the file
            is kept here for {data.days} days.
          </EmptyState>
        ) : (
          <>
            <p className="soft">
              {formatPlural(data.files, 'file')}, {formatBytes(data.bytes)}. Each is kept for {data.days}{' '}
              days.
            </p>
            <ul className="kept-runs">
              {data.runs.map((run) => (
                <Run key={run.id} root={root} run={run} onDone={() => body.current?.focus()} />
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  );
}

function Run({
  root,
  run,
  onDone,
}: {
  readonly root: string;
  readonly run: KeptRun;
  /** The row disappears with its button, so the focus moves to another place. */
  readonly onDone: () => void;
}) {
  const { isPending, putBack } = usePutBack();
  const { bytes, command, files, id, paths, time } = run;
  const when = formatMoment(time);
  const more = files - Math.min(paths.length, PATHS_SHOWN);
  const onPutBack = async () => {
    if (await putBack(root, id)) onDone();
  };
  return (
    <li className="kept-run">
      <div className="row">
        <span className="grow">
          <strong>{when}</strong>
          <span className="soft">
            {' '}
            by {command}, {formatPlural(files, 'file')}, {formatBytes(bytes)}
          </span>
        </span>
        <Button
          size="small"
          onPress={() => void onPutBack()}
          isPending={isPending}
          aria-label={`Put back, ${when}`}
        >
          Put back
        </Button>
      </div>
      <ul className="kept-paths code">
        {paths.slice(0, PATHS_SHOWN).map((path) => (
          <li key={path} className="cut" title={path}>
            {path}
          </li>
        ))}
        {more > 0 && <li className="soft">and {formatCount(more)} more</li>}
      </ul>
    </li>
  );
}
